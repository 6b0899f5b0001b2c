/** The shells that completion scripts are written for. */
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const

/** What completion scripts call. Never offered, and never given to a tool. */
export const COMPLETE_COMMAND = '__complete'

/** Commands that every program has besides its tools. A tool of the same name wins. */
export const BUILTIN_COMMANDS: readonly { readonly name: string; readonly words: readonly string[]; readonly summary: string }[] = [
  { name: 'mcp', words: ['serve', 'add', 'remove', 'list'], summary: 'Serve the tools over MCP, and install that into agents' },
  { name: 'skills', words: ['add', 'remove', 'list'], summary: 'Install a skill about this program into agents' },
  { name: 'completion', words: SHELLS, summary: 'Print a completion script for a shell' },
]
