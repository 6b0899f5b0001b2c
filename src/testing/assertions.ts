import type { OutputMode } from '../cli/formats/table.ts'
import { OUTPUT_FORMATS, OUTPUT_MODES } from '../cli/formats/table.ts'
import type { Toolset } from '../cli/types.ts'
import type { AnyTool } from '../core/tool.ts'
import { isTool } from '../core/tool.ts'
import type { ToolManifest } from '../protocol/manifest.ts'
import type { Json, JsonObject } from '../util/values.ts'
import { compact } from '../util/values.ts'

/** What a program printed: a result of `runCli`, or of a real process. */
export type PrintedOutput = {
  readonly stdout: string
  readonly exitCode?: number | null
  readonly form?:
    | {
        readonly mode: OutputMode
        readonly dialect?: string
        readonly streamed?: boolean
        readonly asked?: boolean
      }
    | undefined
}

/** How the output was asked for; default: as the result says, else `json`. */
export type PureStdoutOptions = {
  readonly mode?: OutputMode
  readonly streamed?: boolean
  /** Questions precede the document, one a line. */
  readonly asked?: boolean
}

/**
 * Throws an Error that shows the place when stdout is not exactly what the mode promises: one
 * document, lines of JSON, or nothing but the bare result.
 */
export function expectPureStdout(printed: PrintedOutput, options: PureStdoutOptions = {}): void {
  const mode = options.mode ?? printed.form?.mode ?? 'json'
  if (!OUTPUT_MODES.includes(mode))
    throw new Error(
      `expectPureStdout: there is no output mode '${String(mode)}'; the modes are ${OUTPUT_MODES.join(', ')}`,
    )
  const streamed = options.streamed ?? printed.form?.streamed ?? false
  // Other dialects write events wherever they write.
  if (streamed || (printed.form?.dialect ?? 'native') !== 'native')
    return checkLines(printed, 'events, one JSON object a line')
  const check = OUTPUT_FORMATS[mode].isEnvelope ? ENVELOPE_CHECKS[mode] : checkBareResult
  check?.(printed, options)
}

type StdoutCheck = (printed: PrintedOutput, options: PureStdoutOptions) => void

const ENVELOPE_CHECKS: { readonly [mode in OutputMode]?: StdoutCheck } = {
  json: checkDocument,
  jsonl: (printed) => checkLines(printed, 'one JSON value a line'),
  yaml: (printed) => checkEnvelopeKeys(printed, 'one YAML document'),
  toon: (printed) => checkEnvelopeKeys(printed, 'one TOON document'),
}

function checkDocument(
  printed: PrintedOutput,
  { asked = printed.form?.asked ?? false }: PureStdoutOptions,
): void {
  if (asked) return checkLines(printed, 'JSON lines that end in the outcome')
  const problem = findJsonProblem(printed.stdout)
  if (problem !== undefined) failPurity('one JSON document', problem, printed.stdout)
  if (!printed.stdout.endsWith('\n'))
    failPurity('one JSON document', 'the last line does not end', printed.stdout)
}

function checkLines({ stdout }: PrintedOutput, promise: string): void {
  if (stdout !== '' && !stdout.endsWith('\n'))
    failPurity(promise, 'the last line does not end', stdout)
  for (const [index, line] of stdout.split('\n').slice(0, -1).entries()) {
    const problem = findJsonProblem(line)
    if (problem !== undefined) failPurity(promise, `line ${index + 1}: ${problem}`, line)
  }
}

const ENVELOPE_KEYS = [
  'ok',
  'status',
  'result',
  'message',
  'content',
  'errors',
  'summary',
  'error',
  'meta',
]

// Only the keys of the envelope are not indented, and each of them occurs once.
function checkEnvelopeKeys({ stdout }: PrintedOutput, promise: string): void {
  const keys = stdout
    .split('\n')
    .flatMap((line) =>
      line === '' || /^[\s\-\]}]/.test(line) ? [] : [/^\w+/.exec(line)?.[0] ?? line],
    )
  const stray = keys.find(
    (key, index) => !ENVELOPE_KEYS.includes(key) || keys.indexOf(key) !== index,
  )
  if (keys[0] !== 'ok') failPurity(promise, "it does not begin with the key 'ok'", stdout)
  if (stray !== undefined) failPurity(promise, `'${stray}' does not belong to it`, stdout)
}

function checkBareResult({ stdout, exitCode }: PrintedOutput): void {
  if (exitCode !== undefined && exitCode !== 0 && stdout !== '')
    failPurity('nothing, because the call failed', 'there is text', stdout)
}

function findJsonProblem(text: string): string | undefined {
  if (text.trim() === '') return 'there is nothing'
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function failPurity(promise: string, problem: string, text: string): never {
  const shown =
    text.length > 500 ? `${text.slice(0, 500)} (and ${text.length - 500} characters more)` : text
  throw new Error(`stdout is not ${promise}: ${problem}\n--- stdout\n${shown}\n---`)
}

/**
 * What callers depend on, as plain JSON with sorted keys: names, schemas, flags, annotations and
 * errors. For the snapshots of any test runner.
 */
export async function schemaSnapshot(target: Toolset | AnyTool): Promise<JsonObject> {
  if (isTool(target)) return sortKeys(describeManifest(await target.manifest())) as JsonObject
  const { name, tools, resources, prompts } = await (target as Toolset).manifest()
  return sortKeys({
    name,
    tools: toNamedObject(tools.map((tool) => [tool.name, describeManifest(tool)])),
    resources: resources.map(({ uri }) => uri).sort(),
    prompts: toNamedObject(
      prompts.map((prompt) => [
        prompt.name,
        prompt.arguments.map((argument) => `${argument.name}${argument.required ? '' : '?'}`),
      ]),
    ),
  }) as JsonObject
}

function describeManifest({
  name,
  inputSchema,
  outputSchema,
  annotations,
  errors,
  positional,
  flags,
  streaming,
  session,
}: ToolManifest): object {
  return compact({
    name,
    input: inputSchema,
    output: outputSchema ?? null,
    annotations,
    errors,
    positional,
    flags,
    streaming: streaming || undefined,
    session: session || undefined,
  })
}

// Without prototype, so that no name means anything else.
function toNamedObject(entries: readonly (readonly [string, unknown])[]): object {
  return Object.assign(Object.create(null) as object, Object.fromEntries(entries))
}

function sortKeys(value: unknown): Json {
  return sortValue(JSON.parse(JSON.stringify(value)) as Json)
}

function sortValue(value: Json, key?: string): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => sortValue(item))
    // The names of required fields are a set; their order does not matter.
    return key === 'required' && items.every((item) => typeof item === 'string')
      ? items.sort()
      : items
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, item]) => [name, sortValue(item, name)]),
  )
}
