/**
 * What the inspecting child process does: load the bundle, collect the answers of the program, list
 * its schemas, and run warm-up commands.
 */

import { createRequire } from 'node:module'
import { constants, Script } from 'node:vm'
import { COMPLETE_COMMAND } from '../cli/builtin-names.ts'
import type { CapturedProgram } from '../cli/run.ts'
import type { CommandHost } from '../cli/types.ts'
import type { Servable, ToolEntry } from '../core/provider.ts'
import { toFlagName } from '../define/argv.ts'
import { writeInputSchema } from '../define/early-checks.ts'
import { checkExamples } from '../define/schema/issues.ts'
import type { BuiltProgramMark } from '../protocol/built-program.ts'
import { setBuiltProgramMark } from '../protocol/built-program.ts'
import type { Io } from '../protocol/io.ts'
import { listWords } from '../util/text.ts'
import type { JsonSchema } from '../util/values.ts'
import { isObject } from '../util/values.ts'
import type { ZodRecord } from './built/zod-records.ts'
import { getRecord } from './built/zod-records.ts'
import type { ProgramScript } from './chunks.ts'
import type { KnownAnswer, ProgramInspection } from './inspect.ts'

const AGENT_ENV = { TOOLABLE_CALLER: 'agent' }

/** Runs every question that the file of a program answers. Throws what its definitions throw. */
export async function inspectProgram({
  set,
  main,
  makeToolset,
}: CapturedProgram): Promise<Omit<ProgramInspection, 'needsZod'>> {
  await set.prepare?.()
  for (const { definition } of set.entries) await checkExamples(await definition.compiled())
  const print = async (
    argv: readonly string[],
    env: { readonly [name: string]: string } = {},
  ): Promise<string | undefined> => {
    const { io, said } = createCapturedIo(env)
    const status = await main(set, argv, io, createQuietHost(makeToolset))
    return status === 0 && said.stderr === '' ? said.stdout : undefined
  }
  const answers: KnownAnswer[] = []
  const record = async (
    variants: readonly (readonly string[])[],
    prefix: string,
    env: { readonly [name: string]: string },
  ): Promise<void> => {
    const text = await print(variants[0]!, env)
    const questions = variants.map((argv) => `${prefix}${argv.length} ${argv.join(' ')}`)
    if (text !== undefined) answers.push({ questions, text })
  }
  const answer = (...variants: readonly (readonly string[])[]): Promise<void> =>
    record(variants, '', {})
  const help = async (...variants: readonly (readonly string[])[]): Promise<void> => {
    await answer(...variants)
    await record(variants, 'agent ', AGENT_ENV)
  }
  // A shell reads the file up to the answer, so questions of programs come first.
  await answer(['--version'], ['-V'])
  await answer(['--discover'])
  // Without arguments, a program with a single tool may read its input from a pipe.
  await help(['--help'], ['-h'], ...(set.entries.length === 1 ? [] : [[]]))
  await answer(['--tools'])
  await answer(['--manifest'])
  // The first TAB after the name of the program. Completions of partial words would be too many.
  await answer([COMPLETE_COMMAND, '--', ''])
  for (const { name, path } of set.entries) {
    const spellings = [...new Set([path.join(' '), name])].map((spelling) => spelling.split(' '))
    const helpFlags = ['--help', '-h']
    await help(...spellings.flatMap((words) => helpFlags.map((flag) => [...words, flag])))
    await answer(...spellings.map((words) => [...words, '--manifest']))
  }
  const discovered: unknown = JSON.parse((await print(['--discover'])) ?? '{}')
  return {
    name: set.name,
    version: set.version,
    answers,
    manifest: await set.manifest(),
    serves: (discovered as { serve?: unknown }).serve !== undefined,
    schemas: listSchemas(set),
  }
}

function listSchemas(set: Servable): ProgramInspection['schemas'] {
  const found = new Map<string, ProgramInspection['schemas'][number]>()
  for (const { definition } of set.entries)
    for (const source of [definition.source.input, definition.source.output]) {
      const record = getRecord(source)
      const fingerprint = record?.fingerprint()
      const json = record && writeInputSchema(source)
      if (fingerprint !== undefined && json)
        found.set(fingerprint, { fingerprint, prepared: { json, exact: isExactSchema(record) } })
    }
  return [...found.values()]
}

/**
 * The command lines that a build runs to learn what calls load: those that the program names itself,
 * else generated ones with tools that do nothing. The last one is like most calls.
 */
export function createWarmup({ set, rehearsal }: Pick<CapturedProgram, 'set' | 'rehearsal'>): {
  readonly shown: Servable
  readonly lines: readonly (readonly string[])[]
} {
  if (rehearsal) return { shown: set, lines: rehearsal }
  const { json = ['--version'], flags } = makeCommandLines(set)
  return { shown: withoutToolWork(set), lines: [...(flags ? [flags] : []), json] }
}

// The same program with tools that do nothing, so that a build may run it.
function withoutToolWork(set: Servable): Servable {
  const entries = set.entries.map((entry): ToolEntry => ({
    ...entry,
    definition: {
      ...entry.definition,
      hooks: {},
      annotations: {},
      source: { ...entry.definition.source, output: undefined },
      run: () => null,
    },
  }))
  return Object.create(set, {
    entries: { value: entries },
    find: { value: (name: string) => entries.find((entry) => entry.name === name) },
  }) as Servable
}

// Command lines that call a tool with JSON and with flags, as most calls do. Empty when no input can
// be generated.
function makeCommandLines(set: Servable): {
  readonly json?: readonly string[]
  readonly flags?: readonly string[]
} {
  for (const { path, definition } of set.entries) {
    const schema = definition.previewManifest()?.inputSchema
    const input = schema && makeValue(schema)
    if (!isObject(input) || !definition.fitsPlainly(input)) continue
    const words = set.entries.length === 1 ? [] : path
    const flags = Object.entries(input).flatMap(([field, value]) =>
      ['string', 'number'].includes(typeof value) ? [`--${toFlagName(field)}`, String(value)] : [],
    )
    return { json: [...words, JSON.stringify(input)], flags: [...words, ...flags] }
  }
  return {}
}

function makeValue(schema: unknown): unknown {
  if (!isObject(schema)) return undefined
  if (Object.hasOwn(schema, 'default')) return schema['default']
  if (Array.isArray(schema['enum'])) return (schema['enum'] as readonly unknown[])[0]
  if (Object.hasOwn(schema, 'const')) return schema['const']
  return Object.hasOwn(VALUE_MAKERS, String(schema['type']))
    ? VALUE_MAKERS[String(schema['type'])]!(schema)
    : undefined
}

const VALUE_MAKERS: { readonly [type: string]: (schema: JsonSchema) => unknown } = {
  string: ({ minLength }) => 'x'.repeat(Math.max(1, Math.min(1000, Number(minLength ?? 1)))),
  number: (schema) => makeNumber(schema),
  integer: (schema) => makeNumber(schema),
  boolean: () => true,
  array: ({ items, minItems }) =>
    Array.from({ length: Math.min(100, Number(minItems ?? 0)) }, () => makeValue(items)),
  object: ({ properties, required }) =>
    Object.fromEntries(
      (Array.isArray(required) ? required : []).map((field: string) => [
        field,
        makeValue(isObject(properties) ? properties[field] : undefined),
      ]),
    ),
}

function makeNumber({ minimum, maximum, exclusiveMinimum }: JsonSchema): number {
  const least = Math.max(
    Number(minimum ?? -Infinity),
    exclusiveMinimum === undefined ? -Infinity : Number(exclusiveMinimum) + 1,
  )
  return Number.isFinite(least) && least > -1e15 ? least : Math.min(1, Number(maximum ?? 1))
}

/** A compiled bundle; `start` runs it, and settles when its modules are loaded. */
type LoadedBundle = {
  readonly script: Script
  /** The late chunks that were requested. */
  readonly asked: Set<string>
  start(): Promise<void>
}

/** Compiles a bundle as its program does, and marks the process as an inspection. */
export function loadBundle(
  { text, length }: ProgramScript,
  program: string,
  bundle: string,
  mark: BuiltProgramMark,
): LoadedBundle {
  const compile = (source: string, filename: string): Script =>
    new Script(source, {
      filename,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
  const script = compile(text.slice(0, length), bundle)
  const asked = new Set<string>()
  const later = (name: string, from: number, to: number): unknown => {
    asked.add(name)
    return compile(
      text.slice(length + from, length + to),
      `${bundle}/${name.slice(2)}`,
    ).runInThisContext()
  }
  return {
    script,
    asked,
    start() {
      setBuiltProgramMark(mark)
      return (script.runInThisContext() as (...given: unknown[]) => Promise<void>)(
        program,
        createRequire(program),
        later,
        (address: string) => import(address),
      )
    },
  }
}

/** An Io that captures the output, like a pipe. */
export function createCapturedIo(
  env: Io['env'],
  cwd = '/',
): { readonly io: Io; readonly said: { stdout: string; stderr: string } } {
  const said = { stdout: '', stderr: '' }
  const sink = (stream: keyof typeof said) => ({
    write: (text: string) => void (said[stream] += text),
    send: async (text: string) => void (said[stream] += text),
    flush: async () => undefined,
    unblock: () => undefined,
    closed: false,
    isTTY: false,
    isPipe: true,
    columns: 80,
    identity: () => '',
  })
  const stdin: Io['stdin'] = {
    isTTY: false,
    taken: false,
    isPipe: false,
    bytes: async function* () {},
    each: async () => undefined,
    close: () => undefined,
  } as Io['stdin']
  return {
    io: {
      stdin,
      stdout: sink('stdout'),
      stderr: sink('stderr'),
      screen: undefined,
      env,
      cwd,
      now: Date.now,
    },
    said,
  }
}

/** A host without guards. */
export function createQuietHost(makeToolset: CommandHost['makeToolset']): CommandHost {
  return {
    signal: new AbortController().signal,
    started: { execPath: 'node', execArgv: [], script: undefined },
    prepareForTools: () => undefined,
    makeToolset,
  }
}

// Methods whose JSON Schema says everything about them. Other methods may mean more.
const RANGE_METHODS = 'min max gt gte lt lte positive negative nonnegative nonpositive'
const EXACT_METHODS: { readonly [builder: string]: readonly string[] } = {
  string: ['min', 'max'],
  number: listWords(`int ${RANGE_METHODS}`),
  int: listWords(RANGE_METHODS),
  boolean: [],
  enum: [],
  literal: [],
  array: ['min', 'max'],
  object: ['strict'],
  strictObject: [],
}
const DESCRIPTION_METHODS = ['describe', 'meta']
const CLOSING_METHODS = ['optional', 'default']

/** True when the JSON Schema says everything: no transforms, rules in code or coercions. */
function isExactSchema(record: ZodRecord): boolean {
  const steps = listRecordSteps(record)
  const [made, ...further] = steps as [ZodRecord, ...ZodRecord[]]
  const allowed = Object.hasOwn(EXACT_METHODS, made.name) ? EXACT_METHODS[made.name]! : undefined
  if (!allowed || !hasExactArguments(made)) return false
  // After `optional` and `default` only descriptions may follow, because their order matters.
  const closing = further.findIndex(({ name }) => CLOSING_METHODS.includes(name))
  const open = closing === -1 ? further : further.slice(0, closing)
  const rest = closing === -1 ? [] : further.slice(closing + 1)
  return (
    open.every(({ name }) => allowed.includes(name) || DESCRIPTION_METHODS.includes(name)) &&
    rest.every(({ name }) => DESCRIPTION_METHODS.includes(name))
  )
}

function listRecordSteps(record: ZodRecord): readonly ZodRecord[] {
  return record.parent ? [...listRecordSteps(record.parent), record] : [record]
}

function hasExactArguments({ name, args: [first] }: ZodRecord): boolean {
  if (name === 'array') return isExactRecord(first)
  if (name === 'object' || name === 'strictObject')
    return typeof first === 'object' && first !== null && Object.values(first).every(isExactRecord)
  if (name === 'enum') return Array.isArray(first)
  return name !== 'literal' || ['string', 'number', 'boolean'].includes(typeof first)
}

function isExactRecord(value: unknown): boolean {
  const record = getRecord(value)
  return record !== undefined && isExactSchema(record)
}
