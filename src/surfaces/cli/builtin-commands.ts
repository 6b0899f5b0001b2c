/** Commands that every program has besides its tools. A tool of the same name wins. */
export const BUILTIN_COMMANDS: readonly { readonly name: string; readonly words: readonly string[]; readonly summary: string }[] = [
  { name: 'completion', words: ['bash', 'zsh', 'fish', 'powershell'], summary: 'Print a completion script for a shell' },
  { name: 'docs', words: ['skill', 'agents', 'claude', 'command', 'subagent', 'llms', 'man', 'openapi', 'markdown'], summary: 'Print documentation in a given form' },
  { name: 'mcp', words: ['add', 'remove', 'list'], summary: 'Make this program known to agents as an MCP server' },
  { name: 'skills', words: ['add', 'remove', 'list'], summary: 'Make this program known to agents as a skill' },
]
