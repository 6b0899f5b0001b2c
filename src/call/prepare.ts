import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { toMilliseconds } from '../contract/duration.ts'
import { isObject } from '../contract/json.ts'
import type { JsonSchema } from '../contract/json.ts'
import { ToolError } from '../contract/tool-error.ts'
import { reservedFields } from '../define/reserved.ts'
import type { ReservedFields } from '../define/reserved.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import type { Issue } from '../define/schema/schema.ts'
import { after } from './after.ts'
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
export function prepareInput(definition: ToolDefinition, given: unknown, options: CallOptions): Prepared | Promise<Prepared> {
  return after(checkInput(definition, given === undefined ? {} : given), (checked) => readInput(definition, checked, options))
}

type Checked = { readonly schema: JsonSchema; readonly value: unknown }

function readInput(definition: ToolDefinition, { schema, value }: Checked, options: CallOptions): Prepared | Promise<Prepared> {
  const fields = isObject(value) ? value : {}
  const names = definition.reserved ? namesOf(schema) : NONE
  const read = (name: string | undefined): unknown => (name !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined)
  const cwd = enterDirectory(options.cwd ?? host.cwd(), read(names.workingDir), names.workingDir)
  const prepared: Prepared = {
    input: value,
    cwd,
    limit: inputTimeout(schema, read(names.timeout), names.timeout),
    dryRun: options.dryRun === true || read(names.dryRun) === true,
    verbose: options.verbose ?? Number(read(names.verbose) ?? 0),
  }
  return hasPaths(schema) ? resolvePaths(schema, value, cwd).then((input) => ({ ...prepared, input })) : prepared
}

// Most inputs plainly fit; the compiled schema is asked only about the others.
function checkInput(definition: ToolDefinition, given: unknown): Checked | Promise<Checked> {
  const accepted = definition.accept(given)
  return accepted ? { schema: definition.sketch()!.inputSchema, value: accepted.value } : checkWhole(definition, given)
}

function checkWhole(definition: ToolDefinition, given: unknown): Checked | Promise<Checked> {
  return after(definition.compiled(), ({ input }) => after(input.check(given), (checked) => (checked.ok ? { schema: input.json, value: checked.value } : refuse(checked.issues, given))))
}

async function refuse(issues: readonly Issue[], given: unknown): Promise<never> {
  throw (await import('../define/schema/issues.ts')).issuesToError(issues, { input: given })
}

function enterDirectory(base: string, wanted: unknown, field = 'working_dir'): string {
  if (typeof wanted !== 'string' || wanted === '') return base
  const directory = resolve(base, wanted)
  if (kindOfPath(directory) !== 'directory') throw new ToolError('INVALID_PATH', `${field}: there is no directory '${wanted}'`, { field, suggestion: 'Give a directory that exists' })
  return directory
}

// The specification bounds the field to ten minutes; an author who declares a maximum has decided otherwise.
function inputTimeout(schema: JsonSchema, seconds: unknown, field = 'timeout'): number | undefined {
  if (seconds === undefined || seconds === null) return undefined
  const declared = (schema['properties'] as { [name: string]: { maximum?: number } } | undefined)?.[field]?.maximum
  if (typeof seconds === 'number' && (seconds <= 0 || seconds > (declared ?? LONGEST_INPUT_TIMEOUT_S))) {
    throw new ToolError('INVALID_INPUT', `${field}: must be above 0 and at most ${declared ?? LONGEST_INPUT_TIMEOUT_S} seconds, got ${seconds}`, { field })
  }
  return toMilliseconds(seconds as number | string, field)
}

const NONE: ReservedFields = {}
const reserved = new WeakMap<JsonSchema, ReservedFields>()

function namesOf(schema: JsonSchema): ReservedFields {
  let names = reserved.get(schema)
  if (names === undefined) reserved.set(schema, (names = reservedFields(schema)))
  return names
}

const hasPathRules = new WeakMap<JsonSchema, boolean>()

function hasPaths(schema: JsonSchema): boolean {
  let ruled = hasPathRules.get(schema)
  if (ruled === undefined) hasPathRules.set(schema, (ruled = JSON.stringify(schema).includes('"x-toolable-path"')))
  return ruled
}

async function resolvePaths(schema: JsonSchema, value: unknown, cwd: string): Promise<unknown> {
  const { checkPaths } = await import('../define/schema/path.ts')
  const checked = checkPaths(schema, value, cwd, kindOfPath)
  const [first] = checked.issues
  if (!first) return checked.value
  const field = first.path.join('.')
  throw new ToolError('INVALID_PATH', `${field}: ${first.message}`, { field, details: { issues: checked.issues.map(({ path, message }) => ({ path: path.join('.'), message })) }, suggestion: 'Give a path that exists and is of the right kind' })
}

function kindOfPath(path: string): 'file' | 'directory' | 'other' | undefined {
  const stats = path.includes('\0') ? undefined : statSync(path, { throwIfNoEntry: false })
  if (!stats) return undefined
  return stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : 'other'
}
