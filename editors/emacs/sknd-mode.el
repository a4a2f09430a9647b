;;; sknd-mode.el --- SkriptND, the language of NNEF 2.0  -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0
;; Package-Requires: ((emacs "28.1"))

;;; Commentary:

;; `sknd-mode' highlights by regular expressions; `sknd-ts-mode' by the tree-sitter grammar (Emacs 29 or newer), if it is
;; installed.  `eglot' starts skript-language-server in both.

;;; Code:

(defgroup sknd nil "SkriptND." :group 'languages)

(defcustom sknd-indent-offset 4 "Columns of one level." :type 'integer :safe #'integerp)

(defvar sknd-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?' "\"" table)
    (modify-syntax-entry ?_ "_" table)
    table))

(defconst sknd--keywords
  '("import" "public" "operator" "graph" "if" "then" "elif" "else" "with" "for" "while" "do" "unroll" "yield" "in" "is"
    "optional" "static" "dynamic"))

(defconst sknd--font-lock
  `(("@[a-z]+" . font-lock-preprocessor-face)
    ("\\_<\\(?:operator\\|graph\\)\\s-+\\([A-Za-z_][A-Za-z0-9_]*\\)" 1 font-lock-function-name-face)
    ("`\\([A-Za-z_]+\\)`" 1 font-lock-builtin-face)
    (,(regexp-opt sknd--keywords 'symbols) . font-lock-keyword-face)
    (,(regexp-opt '("int" "real" "bool" "str") 'symbols) . font-lock-type-face)
    (,(regexp-opt '("true" "false" "inf" "pi") 'symbols) . font-lock-constant-face)))

(defun sknd-indent-line ()
  "Indent the line by its depth in brackets."
  (interactive)
  (let* ((column (- (point) (line-beginning-position)))
         (old (current-indentation))
         (depth (save-excursion
                  (back-to-indentation)
                  (let ((open (car (syntax-ppss))))
                    (if (looking-at-p "\\s)") (1- open) open)))))
    (indent-line-to (max 0 (* depth sknd-indent-offset)))
    (when (> column old)
      (move-to-column (+ column (- (current-indentation) old))))))

;;;###autoload
(define-derived-mode sknd-mode prog-mode "SkriptND"
  "Major mode for SkriptND."
  (setq-local comment-start "# "
              comment-start-skip "#+\\s-*"
              indent-tabs-mode nil
              indent-line-function #'sknd-indent-line
              electric-indent-chars '(?\n ?\} ?\) ?\])
              font-lock-defaults '(sknd--font-lock)))

(defconst sknd--treesit-rules
  '(:language sknd :feature comment ((comment) @font-lock-comment-face)
    :language sknd :feature string
    ((string) @font-lock-string-face
     (interpolation) @default)
    :language sknd :feature keyword
    (["import" "public" "operator" "graph" "optional" "static" "dynamic" "if" "then" "elif" "else" "for" "while" "do"
      "unroll" "with" "yield" "in" "is"]
     @font-lock-keyword-face
     (block_name) @font-lock-preprocessor-face)
    :language sknd :feature definition
    ((operator_name) @font-lock-function-name-face
     (graph_name) @font-lock-type-face
     (type_parameter name: (identifier) @font-lock-type-face)
     (attribute_block (declaration name: (identifier) @font-lock-variable-name-face))
     (input_block (declaration name: (identifier) @font-lock-variable-name-face)))
    :language sknd :feature type
    ([(primitive_type) (type_name)] @font-lock-type-face)
    :language sknd :feature constant
    ([(boolean) (constant) (number)] @font-lock-constant-face)
    :language sknd :feature function
    ((invocation operator: (path (identifier) @font-lock-function-name-face :anchor))
     (builtin name: (identifier) @font-lock-builtin-face)))
  "Arguments of `treesit-font-lock-rules'.")

(declare-function treesit-ready-p "treesit")
(declare-function treesit-parser-create "treesit.c")
(declare-function treesit-font-lock-rules "treesit")
(declare-function treesit-major-mode-setup "treesit")
(declare-function treesit-node-text "treesit.c")
(declare-function treesit-node-child-by-field-name "treesit.c")
(defvar treesit-font-lock-settings)
(defvar treesit-font-lock-feature-list)
(defvar treesit-defun-type-regexp)
(defvar treesit-defun-name-function)
(defvar treesit-simple-imenu-settings)

(defun sknd--definition-name (node)
  "The name of the definition NODE."
  (treesit-node-text (treesit-node-child-by-field-name node "name") t))

;;;###autoload
(define-derived-mode sknd-ts-mode sknd-mode "SkriptND"
  "Major mode for SkriptND that uses tree-sitter."
  (treesit-parser-create 'sknd)
  (setq-local treesit-font-lock-settings (apply #'treesit-font-lock-rules sknd--treesit-rules)
              treesit-font-lock-feature-list '((comment string) (keyword definition) (type constant function))
              treesit-defun-type-regexp "\\`definition\\'"
              treesit-defun-name-function #'sknd--definition-name
              treesit-simple-imenu-settings '(("Definition" "\\`definition\\'" nil nil)))
  (treesit-major-mode-setup))

;;;###autoload
(defun sknd-best-mode ()
  "Use `sknd-ts-mode' if the grammar is installed, else `sknd-mode'."
  (if (and (require 'treesit nil t) (treesit-ready-p 'sknd t)) (sknd-ts-mode) (sknd-mode)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.sknd\\'" . sknd-best-mode))

(with-eval-after-load 'eglot
  (defvar eglot-server-programs)
  (add-to-list 'eglot-server-programs '((sknd-mode sknd-ts-mode) . ("skript-language-server"))))

(provide 'sknd-mode)

;;; sknd-mode.el ends here
