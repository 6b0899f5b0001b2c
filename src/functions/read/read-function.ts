import type ts from 'typescript'
import type { JsonSchema } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { defineTool } from '../../define/tool.ts'
import type { FunctionManifest, FunctionProblem } from '../manifest.ts'
import { commentOf } from './comments/comment-of.ts'
import { describeValue } from './comments/describe-value.ts'
import { readFunctionComment } from './comments/function-comment.ts'
import type { FunctionComment } from './comments/function-comment.ts'
import { propertyTags } from './comments/property-tags.ts'
import { readExamples } from './examples.ts'
import { keepEffective } from './effective.ts'
import { readParameters } from './parameters.ts'
import { placeOf } from './reader.ts'
import type { Reader } from './reader.ts'
import { readReturns } from './returns.ts'
import { toolName, wordsOf } from './tool-name.ts'
import { beginReading, withDefinitions } from './types/read-type.ts'
import { Unreadable } from './types/work.ts'
import type { Work } from './types/work.ts'

/** A function that a module exports. */
export type ExportedFunction = {
  /** How to reach it in the module. */
  readonly path: string
  /** What it is called: its own name where it is the default export. */
  readonly name: string
  readonly symbol: ts.Symbol
  readonly signatures: readonly ts.Signature[]
}

/** A tool, or why there is none, and what else is to be said. */
export type ReadFunction = {
  readonly manifest?: FunctionManifest
  readonly problems: readonly FunctionProblem[]
}

type Attempt = {
  readonly manifest: FunctionManifest
  readonly problems: readonly FunctionProblem[]
  readonly signature: ts.Signature
}

/** Reads one function: types, comment, examples. Functions that are marked as internal give nothing. */
export async function readFunction(
  reader: Reader,
  { path, name, symbol, signatures }: ExportedFunction,
): Promise<ReadFunction> {
  const at = symbol.declarations?.[0] ?? reader.entry
  const problem = (
    severity: FunctionProblem['severity'],
    reason: string,
    message: string,
    fix: string,
  ): FunctionProblem => ({ export: path, ...placeOf(at), reason, message, fix, severity })
  const attempts: Attempt[] = []
  let refused: Unreadable | undefined
  for (const signature of signatures) {
    const comment = readFunctionComment(findComment(reader, signature, symbol))
    if (comment.isInternal) return { problems: [] }
    const problems: FunctionProblem[] = []
    const tell: Subject['tell'] = (...told) => {
      if (!problems.some(({ message }) => message === told[2])) problems.push(problem(...told))
    }
    try {
      const manifest = await readSignature(reader, { path, name, signature, at, comment, tell })
      defineTool(optionsOf(manifest))
      attempts.push({ manifest, problems, signature })
    } catch (error) {
      refused = readRefusal(error)
    }
  }
  const chosen = choose(attempts)
  if (!chosen)
    return {
      problems: refused ? [problem('error', refused.reason, refused.message, refused.fix)] : [],
    }
  const forms =
    signatures.length === 1
      ? []
      : [
          problem(
            'note',
            'overloads',
            `it has ${signatures.length} forms; the tool has the form ${reader.checker.signatureToString(chosen.signature, at)}`,
            'Write a function of its own for another form',
          ),
        ]
  return { manifest: chosen.manifest, problems: [...chosen.problems, ...forms] }
}

// The form that asks for least and takes most; of several the last, where libraries put the general one.
function choose(attempts: readonly Attempt[]): Attempt | undefined {
  const needs = ({ manifest: { input } }: Attempt): number =>
    Array.isArray(input['required']) ? input['required'].length : 0
  const takes = ({ manifest: { input } }: Attempt): number =>
    Object.keys(input['properties'] as object).length
  return attempts.reduce<Attempt | undefined>(
    (best, attempt) =>
      best && (needs(best) - needs(attempt) || takes(attempt) - takes(best)) < 0 ? best : attempt,
    undefined,
  )
}

function readRefusal(error: unknown): Unreadable {
  if (error instanceof Unreadable) return error
  if (ToolError.is(error))
    return new Unreadable('definition', error.message, 'Change the name or the comment')
  throw error
}

type Subject = {
  readonly path: string
  readonly name: string
  readonly signature: ts.Signature
  readonly at: ts.Node
  readonly comment: FunctionComment
  tell(severity: FunctionProblem['severity'], reason: string, message: string, fix: string): void
}

async function readSignature(
  reader: Reader,
  { path, name, signature, at, comment, tell }: Subject,
): Promise<FunctionManifest> {
  const begin = (direction: Work['direction']): Work => {
    const note: Work['note'] = (reason, message) =>
      direction === 'input'
        ? tell('note', reason, message, 'Nothing has to be done where it is not needed')
        : undefined
    return beginReading({
      ts: reader.ts,
      program: reader.program,
      checker: reader.checker,
      at,
      direction,
      strict: reader.strict,
      note,
      describe: (property, schema) =>
        describeProperty({ ...reader, note }, property, schema, direction),
    })
  }
  const input = begin('input')
  const { schema, parameters, positional, flags } = readParameters(
    reader,
    input,
    signature,
    comment,
  )
  const conversions = Object.fromEntries(input.conversions)
  const base = {
    export: path,
    name: comment.name ?? toolName(name),
    summary: comment.summary ?? wordsOf(name),
    ...(comment.description !== undefined && { description: comment.description }),
    input: withDefinitions(schema, input.definitions),
    ...readReturns(reader, begin('output'), signature, comment.returns),
    ...keepEffective(parameters, conversions),
    positional,
    flags,
  }
  const { examples, problems } = await readExamples(
    reader.ts,
    reader.checker,
    base,
    comment.examples,
  )
  for (const problem of problems)
    tell('warning', 'example', problem, 'Correct the example; it is not shown until then')
  for (const problem of comment.problems) tell('warning', 'tag', problem, 'Correct the comment')
  return {
    ...base,
    examples,
    annotations: comment.annotations,
    errors: comment.errors,
    tags: comment.tags,
    ...(comment.timeout !== undefined && { timeout: comment.timeout }),
    ...(comment.deprecated !== undefined && { deprecated: comment.deprecated }),
    ...placeOf(at),
  }
}

// Limits and defaults bind a caller; of a result only what it means is said.
function describeProperty(
  reading: Reader & Pick<Work, 'note'>,
  symbol: ts.Symbol,
  schema: JsonSchema,
  direction: Work['direction'],
): JsonSchema {
  const said = propertyTags(reading.ts, symbol)
  const { description } = said.schema
  return direction === 'input'
    ? describeValue(reading, symbol.name, schema, said)
    : { ...schema, ...(description !== undefined && { description }) }
}

function findComment({ ts }: Reader, { declaration }: ts.Signature, symbol: ts.Symbol): string {
  const own = declaration ? commentOf(ts, declaration) : ''
  return own !== ''
    ? own
    : ((symbol.declarations ?? [])
        .map((each) => commentOf(ts, each))
        .find((comment) => comment !== '') ?? '')
}

function optionsOf({
  name,
  summary,
  description,
  input,
  output,
  positional,
  flags,
  annotations,
  examples,
  errors,
  tags,
  timeout,
}: FunctionManifest): Parameters<typeof defineTool>[0] {
  return {
    name,
    summary,
    ...(description !== undefined && { description }),
    input,
    ...(output && { output }),
    positional,
    flags,
    annotations,
    examples,
    errors,
    tags,
    ...(timeout !== undefined && { timeout }),
    reserved: false,
  }
}
