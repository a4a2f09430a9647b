//! `skript-language-server`: speaks the language server protocol on standard input and output.

use lsp_server::Connection;

fn main() -> anyhow::Result<()> {
    let (connection, threads) = Connection::stdio();
    skript_language_server::serve(&connection)?;
    drop(connection);
    threads.join()?;
    Ok(())
}
