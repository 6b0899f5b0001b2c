import { resolve } from 'node:path'
import { toMilliseconds } from '../../contract/duration.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { RunOptions } from '../../runner/make-request.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import { RUN_PROPERTIES } from './command.ts'
import { readAnswers } from './read-answers.ts'

/** What `run` and `resume` are told by flags of their own. */
export type RunFlags = {
  readonly detach?: boolean
  readonly retries?: number
  readonly heartbeatGrace?: number
  readonly allowLevel?: 'L1' | 'L2' | 'L3'
  readonly answer?: readonly string[]
  readonly wait?: boolean
  readonly selftest?: boolean
  readonly progress?: string
}

/** What flags say about a run, in the directory in which they were typed. Throws INVALID_INPUT for numbers that make no sense. */
export function readRunOptions(
  { retries, heartbeatGrace, allowLevel, answer }: RunFlags,
  { timeout, idempotencyKey, secretFiles }: Globals,
  cwd: string,
): RunOptions {
  const { minimum, maximum } = RUN_PROPERTIES.retries
  if (retries !== undefined && (retries < minimum || retries > maximum))
    throw new ToolError(
      'INVALID_INPUT',
      `--retries must be from ${minimum} to ${maximum}; got ${retries}`,
      { field: 'retries', suggestion: `Use --retries ${retries < minimum ? minimum : maximum}` },
    )
  if (heartbeatGrace !== undefined && heartbeatGrace <= 0)
    throw new ToolError(
      'INVALID_INPUT',
      `--heartbeat-grace must be more than 0 seconds; got ${heartbeatGrace}`,
      { field: 'heartbeatGrace', suggestion: 'Use --heartbeat-grace 90' },
    )
  return {
    timeout: timeout === undefined ? undefined : toMilliseconds(timeout, 'timeout') / 1000,
    heartbeatGrace,
    retries,
    idempotencyKey,
    ...(allowLevel && { allowLevel }),
    ...(answer && readAnswers(answer)),
    ...(secretFiles.length > 0 && { secrets: readPairs(secretFiles, cwd) }),
  }
}

function readPairs(pairs: readonly string[], cwd: string): { readonly [name: string]: string } {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, path] = /^([\w.-]+)=(.+)$/s.exec(pair) ?? []
      if (name === undefined || path === undefined)
        throw new ToolError('USAGE', '--secret-file needs name=path', {
          field: 'secret-file',
          suggestion: 'For example --secret-file token=./token.txt',
        })
      return [name, path === '-' ? path : resolve(cwd, path)]
    }),
  )
}
