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
import type { JsonSchema } from '../util/values.ts'
import { isObject } from '../util/values.ts'
import type { ZodRecord } from './built/zod-records.ts'
import { getRecord, ZOD_RECORD } from './built/zod-records.ts'
import type { ProgramScript as BundleScript } from './chunks.ts'
import type { KnownAnswer, ProgramInspection } from './inspect.ts'

const AGENT_ENV = { TOOLABLE_CALLER: 'agent' }

/** Asks a program everything that its file shall answer. Throws what its definitions throw. */
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
  const answer = async (...variants: readonly (readonly string[])[]): Promise<void> => {
    const text = await print(variants[0]!)
    if (text !== undefined) answers.push({ questions: variants.map(toQuestionKey), text })
  }
  const help = async (...variants: readonly (readonly string[])[]): Promise<void> => {
    await answer(...variants)
    const compact = await print(variants[0]!, AGENT_ENV)
    if (compact !== undefined)
      answers.push({
        questions: variants.map((argv) => `agent ${toQuestionKey(argv)}`),
        text: compact,
      })
  }
  // A shell reads through what stands before an answer: first what programs ask.
  await answer(['--version'], ['-V'])
  await answer(['--discover'])
  // The only tool of a program may take its input from a pipe when nothing is given.
  await help(['--help'], ['-h'], ...(set.entries.length === 1 ? [] : [[]]))
  await answer(['--tools'])
  await answer(['--manifest'])
  // What a shell asks at the first TAB behind the name of the program; what follows from a word
  // that was begun is too much to write down.
  await answer([COMPLETE_COMMAND, '--', ''])
  for (const { name, path } of set.entries) {
    const spellings = [...new Set([path.join(' '), name])].map((spelling) => spelling.split(' '))
    await help(
      ...spellings.flatMap((words) => [
        [...words, '--help'],
        [...words, '-h'],
      ]),
    )
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

function toQuestionKey(argv: readonly string[]): string {
  return `${argv.length} ${argv.join(' ')}`
}

function listSchemas(set: Servable): ProgramInspection['schemas'] {
  const sources = set.entries.flatMap(({ definition: { source } }) => [source.input, source.output])
  const records = sources.flatMap((source) =>
    typeof source === 'object' && source !== null && ZOD_RECORD in source
      ? [{ source, record: (source as { [ZOD_RECORD]: ZodRecord })[ZOD_RECORD] }]
      : [],
  )
  const found = new Map<string, ProgramInspection['schemas'][number]>()
  for (const { source, record } of records) {
    const fingerprint = record.fingerprint()
    const json = writeInputSchema(source)
    if (fingerprint !== undefined && json)
      found.set(fingerprint, { fingerprint, prepared: { json, exact: isExactSchema(record) } })
  }
  return [...found.values()]
}

/**
 * What a build runs of a program, and the command lines for it, to learn what its calls load: those
 * that the program names itself, else made up ones of a program that does nothing. The last one is
 * like most calls.
 */
export function createWarmup({ set, rehearsal }: Pick<CapturedProgram, 'set' | 'rehearsal'>): {
  readonly shown: Servable
  readonly lines: readonly (readonly string[])[]
} {
  if (rehearsal) return { shown: set, lines: rehearsal }
  const { json = ['--version'], flags } = makeCommandLines(set)
  return { shown: withoutToolWork(set), lines: [...(flags ? [flags] : []), json] }
}

// A program like the one that is built, whose tools do nothing: a build may run it.
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

// They call a tool of the program by JSON and by flags: what that loads is what most calls load.
// Empty where no tool has an input that can be made up.
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

/** A bundle that was compiled here; `start` runs it, and settles when its modules are loaded. */
type LoadedBundle = {
  readonly script: Script
  /** The later chunks that were asked for. */ readonly asked: Set<string>
  start(): Promise<void>
}

/**
 * Compiles a bundle as the program that it belongs to will, with the mark of whoever looks at it.
 */
export function loadBundle(
  { text, length }: BundleScript,
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

/** An Io that keeps what is printed, as a program sees it whose output goes down a pipe. */
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

/** A host that puts up no guards. */
export function createQuietHost(makeToolset: CommandHost['makeToolset']): CommandHost {
  return {
    signal: new AbortController().signal,
    started: { execPath: 'node', execArgv: [], script: undefined },
    prepareForTools: () => undefined,
    makeToolset,
  }
}

// What the JSON Schema of each says is all there is to it. A method that is not named here may mean
// more.
const EXACT_METHODS: { readonly [builder: string]: readonly string[] } = {
  string: ['min', 'max'],
  number: [
    'min',
    'max',
    'gt',
    'gte',
    'lt',
    'lte',
    'int',
    'positive',
    'negative',
    'nonnegative',
    'nonpositive',
  ],
  int: [
    'min',
    'max',
    'gt',
    'gte',
    'lt',
    'lte',
    'positive',
    'negative',
    'nonnegative',
    'nonpositive',
  ],
  boolean: [],
  enum: [],
  literal: [],
  array: ['min', 'max'],
  object: ['strict'],
  strictObject: [],
}
const DESCRIPTION_METHODS = ['describe', 'meta']
const CLOSING_METHODS = ['optional', 'default']

/**
 * True when the JSON Schema of a schema says everything about it: no transforms, no rules in code,
 * no reading of one type as another.
 */
function isExactSchema(record: ZodRecord): boolean {
  const steps = listRecordSteps(record)
  const [made, ...further] = steps as [ZodRecord, ...ZodRecord[]]
  const allowed = Object.hasOwn(EXACT_METHODS, made.name) ? EXACT_METHODS[made.name]! : undefined
  if (!allowed || !hasExactArguments(made)) return false
  // Behind `optional` and `default` only words may follow: together they mean different things in
  // different orders.
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
