import { basename, extname, resolve } from 'node:path'
import { ToolError } from '../../protocol/tool-error.ts'
import { quoteForShell } from '../../util/text.ts'
import type { ChildServices } from '../child/child-call.ts'
import { expandValues } from '../source.ts'
import type { LoadContext, LoadedSource, Problem, ToolSource } from '../source.ts'
import type { ProgramOptions } from '../types.ts'

const DEFAULT_DEPTH = 2

/**
 * An ordinary program: its tools by `--discover` where it speaks that, else one for each command
 * that its help names.
 */
export function programSource(options: ProgramOptions, services: ChildServices = {}): ToolSource {
  const {
    command,
    args = [],
    name = getProgramName(command),
    depth = DEFAULT_DEPTH,
    only,
  } = options
  return {
    name,
    kind: 'program',
    location: [command, ...args].join(' '),
    async load(context) {
      try {
        const { findProgram } = await import('../../process/programs.ts')
        const file = findProgram(command, context.env['PATH'], context.cwd)
        if (file === undefined)
          return { tools: [], problems: [toMissingProblem(name, command, context)] }
        const given = expandValues(options.env, context.env, `program '${name}'`)
        const { loadProgram } = await import('../help/load-program.ts')
        return await loadProgram(
          { source: name, file, args, given, depth, only, services },
          context,
        )
      } catch (error) {
        return toBrokenProblem(name, command, error)
      }
    },
  }
}

function getProgramName(command: string): string {
  return basename(command, extname(command))
}

function toMissingProblem(source: string, command: string, { cwd }: LoadContext): Problem {
  const isPath = command.includes('/')
  return {
    source,
    location: command,
    reason: 'missing',
    message: isPath
      ? `there is no executable ${resolve(cwd, command)}`
      : `there is no program '${command}' on the PATH`,
    fix: isPath
      ? `chmod +x ${quoteForShell(resolve(cwd, command))}`
      : `Install ${command}, or give its path`,
    severity: 'error',
  }
}

function toBrokenProblem(source: string, location: string, thrown: unknown): LoadedSource {
  const error = ToolError.is(thrown)
    ? thrown
    : new ToolError('INTERNAL', String((thrown as Error)?.message ?? thrown))
  const reason =
    error.code === 'SANDBOX_UNAVAILABLE'
      ? 'no-sandbox'
      : error.code === 'CONFIG'
        ? 'config'
        : 'not-started'
  const fix =
    reason === 'no-sandbox'
      ? `${error.suggestion?.fix ?? 'Install bubblewrap'}; or allow it without: --probe-unsandboxed`
      : (error.suggestion?.fix ?? `Try it by hand: ${location} --help`)
  return {
    tools: [],
    problems: [{ source, location, reason, message: error.message, fix, severity: 'error' }],
  }
}
