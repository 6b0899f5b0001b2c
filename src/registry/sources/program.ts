/**
 * A program: an executable that speaks `--discover`, or any program with a `--help`.
 */

import { basename, extname, resolve } from 'node:path'
import { toToolError } from '../../core/errors.ts'
import { findProgram } from '../../process/programs.ts'
import { quoteForShell } from '../../util/text.ts'
import { loadProgram } from '../help/load-program.ts'
import type { LoadContext, LoadedSource, SourceHost, ToolSource } from '../source.ts'
import { expandValues, toBrokenSource } from '../source.ts'

const DEFAULT_DEPTH = 2

/** An executable that speaks `--discover`, or any program by its `--help`. */
export type ProgramOptions = {
  readonly command: string
  readonly args?: readonly string[]
  readonly name?: string
  readonly env?: { readonly [name: string]: string }
  /** The sub-commands that become tools; default: all. */
  readonly only?: readonly string[]
  /** How deep sub-commands are followed; default 2. */
  readonly depth?: number
}

/**
 * Opens a program: its tools are what `--discover` lists, or else one for each command that its help
 * names.
 */
export function openSource(
  options: ProgramOptions,
  { services }: Pick<SourceHost, 'services'>,
): ToolSource {
  const {
    command,
    args = [],
    name = basename(command, extname(command)),
    depth = DEFAULT_DEPTH,
    only,
  } = options
  return {
    name,
    kind: 'program',
    location: [command, ...args].join(' '),
    async load(context) {
      try {
        const file = findProgram(command, context.env['PATH'], context.cwd)
        if (file === undefined) return toMissingProgram(name, command, context)
        const given = expandValues(options.env, context.env, `program '${name}'`)
        return await loadProgram(
          { source: name, file, args, given, depth, only, services },
          context,
        )
      } catch (error) {
        return toBrokenProgram(name, command, error)
      }
    },
  }
}

function toMissingProgram(source: string, command: string, { cwd }: LoadContext): LoadedSource {
  const path = command.includes('/') ? resolve(cwd, command) : undefined
  const [message, fix] =
    path === undefined
      ? [`there is no program '${command}' on the PATH`, `Install ${command}, or give its path`]
      : [`there is no executable ${path}`, `chmod +x ${quoteForShell(path)}`]
  return toBrokenSource(source, command, 'missing', message, fix)
}

function toBrokenProgram(source: string, command: string, thrown: unknown): LoadedSource {
  const { code, message, suggestion } = toToolError(thrown)
  if (code === 'SANDBOX_UNAVAILABLE') {
    const fix = `${suggestion?.fix ?? 'Install bubblewrap'}; or allow it without: --probe-unsandboxed`
    return toBrokenSource(source, command, 'no-sandbox', message, fix)
  }
  const reason = code === 'CONFIG' ? 'config' : 'not-started'
  const fix = suggestion?.fix ?? `Try it by hand: ${command} --help`
  return toBrokenSource(source, command, reason, message, fix)
}
