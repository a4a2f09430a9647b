-- SPDX-License-Identifier: Apache-2.0
-- Checks the buffer of a model in Neovim: highlights, folds, diagnostics, completion and formatting.

local function wait(what, condition)
  if not vim.wait(30000, condition, 50) then error(what .. " did not happen") end
end

local function capture(text)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local column = line:find(text, 1, true)
    if column then
      local captures = vim.treesitter.get_captures_at_pos(0, row - 1, column - 1)
      return captures[#captures] and captures[#captures].capture
    end
  end
end

local function replace(from, to)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local first, last = line:find(from, 1, true)
    if first then
      vim.api.nvim_buf_set_text(0, row - 1, first - 1, row - 1, last, { to })
      return { row - 1, first - 1 }
    end
  end
end

local function check()
  assert(vim.bo.filetype == "sknd")
  vim.treesitter.get_parser(0):parse()
  for text, expected in pairs({ graph = "keyword", ["input"] = "attribute", real = "type.builtin", relu = "function.call", ["# comment"] = "comment" }) do
    local found = capture(text)
    assert(found == expected, text .. " is " .. tostring(found))
  end
  assert(vim.treesitter.foldexpr(4):match("[1-9]"))
  wait("the start of the server", function() return #vim.lsp.get_clients({ bufnr = 0 }) == 1 end)
  local client = vim.lsp.get_clients({ bufnr = 0 })[1]
  wait("the initialization", function() return client.initialized end)

  local at = replace("relu", "rel")
  wait("a diagnostic", function() return #vim.diagnostic.get(0) > 0 end)
  assert(vim.diagnostic.get(0)[1].code:match("^SK%d%d%d%d$"))
  local where = { textDocument = vim.lsp.util.make_text_document_params(0), position = { line = at[1], character = at[2] + 3 } }
  local answer = client.request_sync("textDocument/completion", where, 20000, 0)
  local labels = vim.tbl_map(function(item) return item.label end, answer.result.items or answer.result)
  assert(vim.tbl_contains(labels, "relu"), table.concat(labels, " "))

  replace("rel", "relu")
  wait("the end of the diagnostic", function() return #vim.diagnostic.get(0) == 0 end)
  vim.lsp.buf.format({ timeout_ms = 20000 })
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") .. "\n"
  assert(text == io.open(vim.env.SKND_EXPECTED):read("a"), text)
  print("neovim " .. tostring(vim.version()) .. ": highlights, folds, diagnostics, completion and formatting are right")
end

local done, message = pcall(check)
if not done then print(message) end
vim.cmd(done and "qall!" or "cquit 1")
