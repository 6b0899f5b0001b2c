import { basename, extname, resolve } from 'node:path'
import { quoteForShell } from '../../contract/quote-for-shell.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { ChildServices } from '../child/services.ts'
import { expandValues } from '../expand-variables.ts'
import type { Loaded, Problem } from '../found.ts'
import type { ProgramOptions } from '../registry-type.ts'
import type { LoadContext, Source } from '../source.ts'

const DEPTH = 2

/** An ordinary program: its tools by `--discover` where it speaks that, else one for each command that its help names. */
export function programSource(options: ProgramOptions, services: ChildServices = {}): Source {
  const { command, args = [], name = stem(command), depth = DEPTH, only } = options
  return {
    name,
    kind: 'program',
    location: [command, ...args].join(' '),
    async load(context) {
      try {
        const { findProgram } = await import('../../process/find-program.ts')
        const file = findProgram(command, context.env['PATH'], context.cwd)
        if (file === undefined) return { tools: [], problems: [missing(name, command, context)] }
        const given = expandValues(options.env, context.env, `program '${name}'`)
        const { loadProgram } = await import('../help/load-program.ts')
        return await loadProgram(
          { source: name, file, args, given, depth, only, services },
          context,
        )
      } catch (error) {
        return broken(name, command, error)
      }
    },
  }
}

function stem(command: string): string {
  return basename(command, extname(command))
}

function missing(source: string, command: string, { cwd }: LoadContext): Problem {
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

function broken(source: string, location: string, thrown: unknown): Loaded {
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
