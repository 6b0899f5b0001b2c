import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { toMilliseconds } from '../contract/duration.ts'
import { isObject } from '../contract/json.ts'
import type { JsonSchema } from '../contract/json.ts'
import { ToolError } from '../contract/tool-error.ts'
import { reservedFields } from '../define/reserved.ts'
import type { ReservedFields } from '../define/reserved.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import type { Checked, Issue, Schema } from '../define/schema/schema.ts'
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
export function prepareInput(
  definition: ToolDefinition,
  given: unknown = {},
  options: CallOptions,
): Prepared | Promise<Prepared> {
  // Most inputs plainly fit; the compiled schema is asked only about the others.
  const accepted = definition.accept(given)
  if (accepted)
    return readInput(definition, definition.sketch()!.inputSchema, accepted.value, options)
  const compiled = definition.compiled()
  if (compiled instanceof Promise) return checkLater(definition, given, options)
  const checked = compiled.input.check(given)
  return checked instanceof Promise
    ? checkLater(definition, given, options, checked)
    : judge(definition, compiled.input, checked, given, options)
}

async function checkLater(
  definition: ToolDefinition,
  given: unknown,
  options: CallOptions,
  checking?: Promise<Checked>,
): Promise<Prepared> {
  const { input } = await definition.compiled()
  return judge(definition, input, await (checking ?? input.check(given)), given, options)
}

function judge(
  definition: ToolDefinition,
  { json }: Schema,
  checked: Checked,
  given: unknown,
  options: CallOptions,
): Prepared | Promise<Prepared> {
  return checked.ok
    ? readInput(definition, json, checked.value, options)
    : refuse(checked.issues, given)
}

function readInput(
  definition: ToolDefinition,
  schema: JsonSchema,
  value: unknown,
  options: CallOptions,
): Prepared | Promise<Prepared> {
  const { names, hasPaths } = meaningOf(schema)
  const prepared: Prepared =
    definition.reserved && names && isObject(value)
      ? readReserved(schema, names, value, options)
      : {
          input: value,
          cwd: options.cwd ?? host.cwd(),
          limit: undefined,
          dryRun: options.dryRun === true,
          verbose: options.verbose ?? 0,
        }
  return hasPaths ? resolvePaths(schema, prepared) : prepared
}

function readReserved(
  schema: JsonSchema,
  names: ReservedFields,
  fields: { readonly [name: string]: unknown },
  options: CallOptions,
): Prepared {
  const read = (name: string | undefined): unknown =>
    name !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined
  return {
    input: fields,
    cwd: enterDirectory(options.cwd ?? host.cwd(), read(names.workingDir), names.workingDir),
    limit: inputTimeout(schema, read(names.timeout), names.timeout),
    dryRun: options.dryRun === true || read(names.dryRun) === true,
    verbose: options.verbose ?? Number(read(names.verbose) ?? 0),
  }
}

async function refuse(issues: readonly Issue[], given: unknown): Promise<never> {
  throw (await import('../define/schema/issues.ts')).issuesToError(issues, { input: given })
}

function enterDirectory(base: string, wanted: unknown, field = 'working_dir'): string {
  if (typeof wanted !== 'string' || wanted === '') return base
  const directory = resolve(base, wanted)
  if (kindOfPath(directory) !== 'directory')
    throw new ToolError('INVALID_PATH', `${field}: there is no directory '${wanted}'`, {
      field,
      suggestion: 'Give a directory that exists',
    })
  return directory
}

// The specification bounds the field to ten minutes; an author who declares a maximum has decided otherwise.
function inputTimeout(schema: JsonSchema, seconds: unknown, field = 'timeout'): number | undefined {
  if (seconds === undefined || seconds === null) return undefined
  const declared = (schema['properties'] as { [name: string]: { maximum?: number } } | undefined)?.[
    field
  ]?.maximum
  if (
    typeof seconds === 'number' &&
    (seconds <= 0 || seconds > (declared ?? LONGEST_INPUT_TIMEOUT_S))
  ) {
    throw new ToolError(
      'INVALID_INPUT',
      `${field}: must be above 0 and at most ${declared ?? LONGEST_INPUT_TIMEOUT_S} seconds, got ${seconds}`,
      { field },
    )
  }
  return toMilliseconds(seconds as number | string, field)
}

// What a schema asks of us besides checking: looked for once.
type Meaning = {
  /** Absent where no field is reserved. */ readonly names: ReservedFields | undefined
  readonly hasPaths: boolean
}

const meanings = new WeakMap<JsonSchema, Meaning>()

function meaningOf(schema: JsonSchema): Meaning {
  let meaning = meanings.get(schema)
  if (!meaning) {
    const names = reservedFields(schema)
    meaning = {
      names: Object.keys(names).length > 0 ? names : undefined,
      hasPaths: JSON.stringify(schema).includes('"x-toolable-path"'),
    }
    meanings.set(schema, meaning)
  }
  return meaning
}

async function resolvePaths(schema: JsonSchema, prepared: Prepared): Promise<Prepared> {
  const { checkPaths } = await import('../define/schema/path.ts')
  const checked = checkPaths(schema, prepared.input, prepared.cwd, kindOfPath)
  const [first] = checked.issues
  if (!first) return { ...prepared, input: checked.value }
  const field = first.path.join('.')
  throw new ToolError('INVALID_PATH', `${field}: ${first.message}`, {
    field,
    details: {
      issues: checked.issues.map(({ path, message }) => ({ path: path.join('.'), message })),
    },
    suggestion: 'Give a path that exists and is of the right kind',
  })
}

function kindOfPath(path: string): 'file' | 'directory' | 'other' | undefined {
  const stats = path.includes('\0') ? undefined : statSync(path, { throwIfNoEntry: false })
  if (!stats) return undefined
  return stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : 'other'
}
