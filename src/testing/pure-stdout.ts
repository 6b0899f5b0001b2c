import type { OutputMode } from '../cli/formats/table.ts'
import { OUTPUT_FORMATS, OUTPUT_MODES } from '../cli/formats/table.ts'

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
