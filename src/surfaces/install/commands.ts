import type { BuiltinModule } from '../builtin/builtin.ts'
import { serverCommands } from './mcp/commands.ts'
import { skillCommands } from './skills/commands.ts'

/** The commands that install the program into agents: `mcp add|remove|list` and `skills add|remove|list`. */
export const installCommands: BuiltinModule = (set, host) => [
  ...serverCommands(set, host),
  ...skillCommands(set, host),
]
