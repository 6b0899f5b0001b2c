import { resolve } from 'node:path'
import { toMilliseconds } from '../../contract/duration.ts'
import type { Duration } from '../../contract/duration.ts'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { CallOptions } from '../../call/options.ts'

/** What holds for all calls: where and with what the program was started, and the longest that a call may take. */
export type Surroundings = {
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly limit: number | undefined
}

/** The options of a request as a call takes them; what is unknown is left alone. Throws INVALID_INPUT for what cannot be meant. */
export function readOptions(given: unknown, { cwd, env, limit }: Surroundings): CallOptions {
  if (given === undefined)
    return { cwd, env, ...(limit !== undefined && { timeout: `${limit}ms` }) }
  if (!isObject(given)) throw wrong('options', 'an object')
  const timeout = shorter(given['timeout'], limit)
  const confirm = read(given, 'confirm', 'boolean')
  const caller = read(given, 'caller', 'string')
  const idempotencyKey = read(given, 'idempotency_key', 'string')
  const verbose = read(given, 'verbose', 'number')
  return {
    cwd: resolve(cwd, read(given, 'cwd', 'string') ?? ''),
    env: given['env'] === undefined ? env : { ...env, ...readVariables(given['env']) },
    ...(timeout !== undefined && { timeout }),
    ...(read(given, 'dry_run', 'boolean') && { dryRun: true }),
    ...(confirm !== undefined && { confirm }),
    ...(caller !== undefined && { caller }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(verbose !== undefined && { verbose }),
  }
}

/** Milliseconds of a limit for all calls; throws INVALID_INPUT for what is no duration. */
export function readLimit(timeout: Duration | undefined): number | undefined {
  return timeout === undefined ? undefined : toMilliseconds(timeout, 'timeout')
}

type Types = { readonly string: string; readonly number: number; readonly boolean: boolean }

function read<Type extends keyof Types>(
  given: { readonly [key: string]: unknown },
  name: string,
  type: Type,
): Types[Type] | undefined {
  const value = given[name]
  if (value === undefined || typeof value === type) return value as Types[Type] | undefined
  throw wrong(`options.${name}`, `a ${type}`)
}

function readVariables(given: unknown): { readonly [name: string]: string } {
  if (isObject(given) && Object.values(given).every((value) => typeof value === 'string'))
    return given as { readonly [name: string]: string }
  throw wrong('options.env', 'an object of texts')
}

// What the program was started with cannot be stretched by a request.
function shorter(wanted: unknown, limit: number | undefined): Duration | undefined {
  if (wanted !== undefined && typeof wanted !== 'number' && typeof wanted !== 'string')
    throw wrong('options.timeout', 'a duration')
  if (limit === undefined) return wanted
  return `${Math.min(limit, wanted === undefined ? limit : toMilliseconds(wanted, 'timeout'))}ms`
}

function wrong(field: string, wanted: string): ToolError {
  return new ToolError('INVALID_INPUT', `${field} must be ${wanted}`, { field })
}
