/** Commands that every program has besides its tools. A tool of the same name wins. */
export const BUILTIN_COMMANDS: readonly { readonly name: string; readonly words: readonly string[]; readonly summary: string }[] = [
  { name: 'completion', words: ['bash', 'zsh', 'fish', 'powershell'], summary: 'Print a completion script for a shell' },
]
