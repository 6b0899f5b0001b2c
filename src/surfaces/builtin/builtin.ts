import type { Io } from '../../contract/io.ts'
import type { AnyTool } from '../../call/tool.ts'
import type { Globals } from '../cli/argv/globals.ts'
import type { Host } from '../cli/host.ts'
import type { Servable } from '../../call/servable.ts'

/** What a command that owns stdin and stdout works with. `set` is the author's toolset, not the one that the command belongs to. */
export type BuiltinContext = {
  readonly set: Servable
  readonly io: Io
  readonly host: Host
  readonly globals: Globals
}

/** A command that every program has, written as a tool: flags, help, completion and `--json` come with it. */
export type Builtin = {
  /** The words that name it: `['docs']`, or `['mcp', 'add']`. */
  readonly path: readonly string[]
  readonly tool: AnyTool
  /**
   * With it the command owns stdin and stdout and gives the exit status; the tool's own `run` is not used. The input is checked before.
   * A command that runs handlers calls `host.prepareForTools` itself. Where it gives no status, the tool's own `run` answers after all.
   */
  readonly start?: (input: unknown, context: BuiltinContext) => Promise<number | undefined>
}

/** What a feature folder exports from its `commands.ts`: the commands that it gives to a program, as it was started. */
export type BuiltinModule = (set: Servable, host: Host) => readonly Builtin[]
