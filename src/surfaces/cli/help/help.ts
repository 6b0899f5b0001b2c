import type { Io } from '../../../contract/io.ts'
import type { ToolsetManifest } from '../../../contract/manifest.ts'
import type { Command } from '../argv/command.ts'
import { findCaller } from '../caller.ts'
import { wantsColor } from '../output/color.ts'
import { renderGroupHelp } from './group-help.ts'
import { renderProgramHelp } from './program-help.ts'
import { renderToolHelp } from './tool-help.ts'

const LONGEST_LINE = 120

/** The help that fits a command: of the program, a group or a tool; short for agents, wide and coloured for people. */
export function helpText(manifest: ToolsetManifest, command: Command, io: Io): string {
  const options = {
    columns: Math.min(io.stdout.isTTY ? io.stdout.columns : 100, LONGEST_LINE),
    color: wantsColor({
      env: io.env,
      isTTY: io.stdout.isTTY,
      noColorFlag: command.globals.noColor === true,
    }),
    compact: findCaller(io.env)?.kind === 'agent',
  }
  if (command.kind === 'group') return renderGroupHelp(manifest, command.path, options)
  const only = manifest.tools.length === 1 && !command.builtin ? manifest.tools[0] : undefined
  const tool =
    command.kind === 'tool'
      ? manifest.tools.find(({ name }) => name === command.entry.name)
      : command.kind === 'program'
        ? only
        : undefined
  return tool
    ? renderToolHelp(manifest, tool, { ...options, single: only !== undefined })
    : renderProgramHelp(manifest, options)
}
