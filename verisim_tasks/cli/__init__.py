"""The ``verisim`` command: one module a subcommand."""
