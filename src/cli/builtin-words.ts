/** What may follow the name of a built-in command, and its summary. */

import { DOC_KIND_NAMES } from '../docs/kinds/table.ts'
import type { BUILTIN_NAMES } from './builtin-names.ts'
import { SHELLS } from './builtin-names.ts'

/** Commands that every program has besides its tools. */
export const BUILTIN_COMMANDS: readonly {
  readonly name: (typeof BUILTIN_NAMES)[number]
  readonly words: readonly string[]
  readonly summary: string
}[] = [
  {
    name: 'docs',
    words: DOC_KIND_NAMES,
    summary: 'Print or write a skill, agent files, a manual page and more',
  },
  {
    name: 'mcp',
    words: ['serve', 'add', 'remove', 'list'],
    summary: 'Serve the tools over MCP, and install that into agents',
  },
  {
    name: 'skills',
    words: ['add', 'remove', 'list'],
    summary: 'Install a skill about this program into agents',
  },
  { name: 'completion', words: SHELLS, summary: 'Print a completion script for a shell' },
  { name: 'serve', words: ['http'], summary: 'Serve the tools over HTTP' },
]
