import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { toMilliseconds } from '../contract/duration.ts'
import { isObject } from '../contract/json.ts'
import { ToolError } from '../contract/tool-error.ts'
import { reservedFields } from '../define/reserved.ts'
import { issuesToError } from '../define/schema/issues.ts'
import { checkPaths } from '../define/schema/path.ts'
import type { Schema } from '../define/schema/schema.ts'
import type { ToolDefinition } from '../define/tool.ts'
import { host } from './host.ts'
import type { CallOptions } from './options.ts'

/** A validated input and what its reserved fields ask for. */
export type Prepared = {
  readonly input: unknown
  readonly cwd: string
  /** Milliseconds that the input itself allows. */
  readonly limit: number | undefined
  readonly dryRun: boolean
  readonly verbose: number
}

const LONGEST_INPUT_TIMEOUT_S = 600

/** Validates the input strictly and reads its reserved fields; throws INVALID_INPUT, MISSING_PARAM or INVALID_PATH. */
export async function prepareInput(definition: ToolDefinition, given: unknown, options: CallOptions): Promise<Prepared> {
  const schema = definition.input()
  const pending = schema.check(given === undefined ? {} : given)
  const checked = pending instanceof Promise ? await pending : pending
  if (!checked.ok) throw issuesToError(checked.issues, { input: given })
  const fields = isObject(checked.value) ? checked.value : {}
  const names = reservedFields(schema.json)
  const read = (name: string | undefined): unknown => (name !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined)
  const cwd = enterDirectory(options.cwd ?? host.cwd(), read(names.workingDir), names.workingDir)
  return {
    input: resolvePaths(schema, checked.value, cwd),
    cwd,
    limit: inputTimeout(schema, read(names.timeout), names.timeout),
    dryRun: options.dryRun === true || read(names.dryRun) === true,
    verbose: options.verbose ?? Number(read(names.verbose) ?? 0),
  }
}

function enterDirectory(base: string, wanted: unknown, field = 'working_dir'): string {
  if (typeof wanted !== 'string' || wanted === '') return base
  const directory = resolve(base, wanted)
  if (kindOfPath(directory) !== 'directory') throw new ToolError('INVALID_PATH', `${field}: there is no directory '${wanted}'`, { field, suggestion: 'Give a directory that exists' })
  return directory
}

// The specification bounds the field to ten minutes; an author who declares a maximum has decided otherwise.
function inputTimeout(schema: Schema, seconds: unknown, field = 'timeout'): number | undefined {
  if (seconds === undefined || seconds === null) return undefined
  const declared = (schema.json['properties'] as { [name: string]: { maximum?: number } } | undefined)?.[field]?.maximum
  if (typeof seconds === 'number' && (seconds <= 0 || seconds > (declared ?? LONGEST_INPUT_TIMEOUT_S))) {
    throw new ToolError('INVALID_INPUT', `${field}: must be above 0 and at most ${declared ?? LONGEST_INPUT_TIMEOUT_S} seconds, got ${seconds}`, { field })
  }
  return toMilliseconds(seconds as number | string, field)
}

const hasPathRules = new WeakMap<Schema, boolean>()

function resolvePaths(schema: Schema, value: unknown, cwd: string): unknown {
  let ruled = hasPathRules.get(schema)
  if (ruled === undefined) hasPathRules.set(schema, (ruled = JSON.stringify(schema.json).includes('"x-toolable-path"')))
  if (!ruled) return value
  const checked = checkPaths(schema.json, value, cwd, kindOfPath)
  const [first] = checked.issues
  if (!first) return checked.value
  const field = first.path.join('.')
  throw new ToolError('INVALID_PATH', `${field}: ${first.message}`, { field, details: { issues: checked.issues }, suggestion: 'Give a path that exists and is of the right kind' })
}

function kindOfPath(path: string): 'file' | 'directory' | 'other' | undefined {
  const stats = path.includes('\0') ? undefined : statSync(path, { throwIfNoEntry: false })
  if (!stats) return undefined
  return stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : 'other'
}
