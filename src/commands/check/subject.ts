/**
 * The program under check as checks see it: how to run it, what it printed, its tools and their
 * fields, and the verdicts of a check.
 */

import { toFlagName } from '../../define/argv.ts'
import { readOutcome } from '../../protocol/dialects/read-outcome.ts'
import type { Annotations, Example } from '../../protocol/manifest.ts'
import type { ErrorObject } from '../../protocol/outcome.ts'
import { parseJson } from '../../protocol/parse-json.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'

/** What a check found. `fix` says what to do about it. */
export type CheckVerdict =
  | { readonly status: 'pass' }
  | { readonly status: 'warn' | 'fail'; readonly found: string; readonly fix: string }

/**
 * One thing that a program can be good or bad at. All checks have these few functions.
 */
export type ReadinessCheck = {
  readonly id: string
  /** What is true where it passes. */
  readonly title: string
  /** Its share of the score. */
  readonly weight: number
  /**
   * `first`: it measures, and nothing else may run beside it; `last`: it looks at what all others
   * saw.
   */
  readonly turn?: 'first' | 'last'
  /** Why it says nothing about this program; undefined where it applies. */
  skip?(subject: CheckSubject): string | undefined
  run(subject: CheckSubject): Promise<CheckVerdict> | CheckVerdict
}

/** What one check said about one program. */
export type CheckOutcome = {
  readonly id: string
  readonly title: string
  readonly status: 'pass' | 'warn' | 'fail' | 'skip'
  readonly weight: number
  readonly found?: string
  readonly fix?: string
}

/** How agent-ready a program is. */
export type ReadinessReport = {
  readonly path: string
  readonly speaks: string
  readonly tools: readonly string[]
  readonly score: number
  readonly of: number
  readonly percent: number
  readonly checks: readonly CheckOutcome[]
}

export const PASS: CheckVerdict = { status: 'pass' }

/** A finding that costs the whole weight. */
export function createFailure(found: string, fix: string): CheckVerdict {
  return { status: 'fail', found, fix }
}

/** A finding that costs half of it. */
export function createWarning(found: string, fix: string): CheckVerdict {
  return { status: 'warn', found, fix }
}

/** How a program ended, and all that it said. */
export type ProgramRun = {
  readonly args: readonly string[]
  /** Null where it did not end by itself. */
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
  /** Milliseconds. */
  readonly duration: number
  /** It had to be ended, or could not be started. */
  readonly trouble?: string
}

type ProgramRunOptions = {
  /** Variables besides the few that every run gets. */
  readonly env?: { readonly [name: string]: string }
  /** Not from memory, although the same was asked before. */
  readonly again?: true
  /** Stdout has no reader. */
  readonly unread?: true
}

/** How the program tells what it is. */
export type DiscoveryKind = 'discover' | 'dump' | 'multi-dump' | 'simple' | 'nothing'

/** A tool as its program describes it. */
export type DescribedTool = {
  readonly name: string
  readonly summary: string
  readonly description: string
  readonly inputSchema?: JsonSchema
  readonly annotations: Annotations
  readonly examples: readonly Example[]
}

/** A program that is looked at. */
export type CheckSubject = {
  /** The file as it was named. */
  readonly path: string
  /** Interpreter and file. */
  readonly command: readonly [program: string, ...args: string[]]
  readonly speech: DiscoveryKind
  /** The answer by which it was found to speak. */
  readonly discovery: ProgramRun
  readonly tools: readonly DescribedTool[]
  /** Runs it with closed stdin in an empty folder; the same question is asked once. */
  ask(args: readonly string[], options?: ProgramRunOptions): Promise<ProgramRun>
  /** All that it was asked so far. */
  readonly runs: readonly ProgramRun[]
  /** Milliseconds that its interpreter alone needs right now, in the same surroundings. */
  bareStart(): Promise<number>
  /** Nothing that it does can change anything. */
  readonly contained: boolean
  /** The user allows calls of its tools. */
  readonly mayCall: boolean
}

/** The one JSON document that a run printed on stdout; undefined where it printed anything else. */
export function parseDocument({ stdout }: ProgramRun): { readonly value: unknown } | undefined {
  const parsed = stdout.trim() === '' ? undefined : parseJson(stdout)
  return parsed?.ok ? { value: parsed.value } : undefined
}

/** The beginning of what a run said, for a person. */
export function toExcerpt({ stdout, stderr }: Pick<ProgramRun, 'stdout' | 'stderr'>): string {
  const said = (stdout.trim() || stderr.trim()).replace(/\s+/g, ' ')
  if (said === '') return 'nothing'
  return JSON.stringify(said.length > 100 ? `${said.slice(0, 97)}...` : said)
}

/** What a run said and how it ended, in words. */
export function describeAnswer(ran: ProgramRun): string {
  return `${toExcerpt(ran)} (${ran.trouble ?? `exit ${ran.status}`})`
}

/** The fields of a tool's input, each with its schema. */
export function listFields({
  inputSchema,
}: DescribedTool): readonly (readonly [name: string, schema: JsonSchema])[] {
  const properties = inputSchema?.['properties']
  const entries = isObject(properties) ? Object.entries(properties) : []
  return entries.filter((entry): entry is [string, JsonSchema] => isObject(entry[1]))
}

/** The fields without which a tool cannot be called. */
export function listRequiredFields({ inputSchema }: DescribedTool): readonly string[] {
  const required = inputSchema?.['required']
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

/** The first field of a simple type among some. */
export function findFieldOfType(
  tool: DescribedTool,
  types: readonly string[],
): readonly [name: string, schema: JsonSchema] | undefined {
  return listFields(tool).find(
    ([, schema]) => typeof schema['type'] === 'string' && types.includes(schema['type']),
  )
}

/** A field as a flag. */
export function toFlag(field: string): string {
  return `--${toFlagName(field)}`
}

/** How a program answered something that it should refuse. */
export type RefusedCall = {
  readonly ran: ProgramRun
  readonly document: { readonly value: unknown } | undefined
  /** The error in it, whatever dialect it speaks. */
  readonly error: ErrorObject | undefined
  /** Its error has a code. */
  readonly hasCode: boolean
}

/** Sends something that should be refused. */
export async function provokeRefusal(
  subject: CheckSubject,
  args: readonly string[],
): Promise<RefusedCall> {
  const ran = await subject.ask(args)
  const document = parseDocument(ran)
  const outcome =
    document &&
    readOutcome(document.value, compact({ tool: subject.path, exitCode: ran.status ?? undefined }))
  const error = outcome?.ok === false ? outcome.error : undefined
  return { ran, document, error, hasCode: hasErrorCode(document?.value) }
}

/** The arguments that name a tool, then what is for it. */
export function toCallArguments(
  { speech, tools }: CheckSubject,
  tool: DescribedTool,
  ...rest: readonly string[]
): readonly string[] {
  return speech === 'multi-dump' || (speech === 'discover' && tools.length > 1)
    ? [tool.name, ...rest]
    : rest
}

function hasErrorCode(document: unknown): boolean {
  if (!isObject(document)) return false
  const error = isObject(document['error']) ? document['error'] : document
  return typeof error['code'] === 'string' || typeof error['error_code'] === 'string'
}
