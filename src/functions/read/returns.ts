import type ts from 'typescript'
import type { JsonSchema } from '../../contract/json.ts'
import type { FunctionManifest } from '../manifest.ts'
import { isOurs } from './reader.ts'
import type { Reader } from './reader.ts'
import { builtinName } from './types/builtins.ts'
import { withDefinitions } from './types/read-type.ts'
import { Unreadable } from './types/work.ts'
import type { Work } from './types/work.ts'

const GENERATORS = [
  'Generator',
  'AsyncGenerator',
  'Iterator',
  'AsyncIterator',
  'Iterable',
  'AsyncIterable',
  'IterableIterator',
  'AsyncIterableIterator',
  'IteratorObject',
  'AsyncIteratorObject',
  'ReadableStream',
]
const EVENTS = [
  'ProgressEvent',
  'LogEvent',
  'ArtifactEvent',
  'ItemEvent',
  'ResultYield',
  'SessionStartEvent',
  'AwaitingInputEvent',
  'SessionEndEvent',
]
const QUESTIONS = ['SessionStartEvent', 'AwaitingInputEvent']

/** What a function gives. */
export type Returns = Pick<FunctionManifest, 'output' | 'yields' | 'collects' | 'session'>

/** Reads what a function returns. Where nothing exact can be said there is no schema: a good result is never refused for a type that was not understood. */
export function readReturns(
  reader: Reader,
  work: Work,
  signature: ts.Signature,
  description: string | undefined,
): Returns {
  const { ts, checker } = work
  const type = checker.getAwaitedType(signature.getReturnType()) ?? signature.getReturnType()
  if (type.getCallSignatures().length > 0)
    throw new Unreadable(
      'callback',
      'it returns a function, which JSON cannot carry',
      'Write a function that calls it and returns what comes of it',
    )
  const generator = findGenerator(work, type)
  const describe = (schema: JsonSchema | undefined): Pick<Returns, 'output'> =>
    schema && isTrusted(reader, signature)
      ? {
          output: {
            ...schema,
            ...(description !== undefined && description !== '' && { description }),
          },
        }
      : {}
  if (!generator) return describe(readResult(reader, work, type))
  const [item, result] = checker.getTypeArguments(generator as ts.TypeReference)
  const yields = item ? classifyYields(reader, work, item) : { yields: 'both' as const }
  const returnsNothing =
    result === undefined ||
    (result.flags & (ts.TypeFlags.VoidLike | ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0
  if (!returnsNothing) return { ...yields, ...describe(readResult(reader, work, result)) }
  if (yields.yields === 'events') return yields
  const items = yields.yields === 'items' && item ? readResult(reader, work, item) : undefined
  return { ...yields, collects: true, ...(items && describe({ type: 'array', items })) }
}

function readResult(reader: Reader, work: Work, type: ts.Type): JsonSchema | undefined {
  const reply = isOurs(reader, type, ['Reply']) ? type.aliasTypeArguments?.[0] : undefined
  try {
    const { schema, optional } = work.read(reply ?? type)
    if (Object.keys(schema).length === 0 || schema['type'] === 'null') return undefined
    return withDefinitions(
      optional && !allowsNull(schema) ? { anyOf: [schema, { type: 'null' }] } : schema,
      work.definitions,
    )
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

function allowsNull(schema: JsonSchema): boolean {
  return (
    Array.isArray(schema['anyOf']) &&
    (schema['anyOf'] as JsonSchema[]).some(({ type }) => type === 'null')
  )
}

function findGenerator(work: Work, type: ts.Type): ts.Type | undefined {
  const members = type.isUnion() ? type.types : [type]
  const generators = members.filter((member) =>
    GENERATORS.includes(builtinName(work, member) ?? ''),
  )
  return generators.length === members.length ? generators[0] : undefined
}

function classifyYields(
  reader: Reader,
  { ts }: Work,
  type: ts.Type,
): Pick<Returns, 'yields' | 'session'> {
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return { yields: 'both' }
  const members = type.isUnion() ? type.types : [type]
  const events = members.filter((member) => isOurs(reader, member, EVENTS))
  if (events.length === 0) return { yields: 'items' }
  const isSession =
    members.length < EVENTS.length && members.some((member) => isOurs(reader, member, QUESTIONS))
  return {
    yields: events.length === members.length ? 'events' : 'both',
    ...(isSession && { session: true }),
  }
}

// Types that somebody else wrote beside the code may be wrong, and so may be what the compiler guesses of JavaScript.
function isTrusted({ ts, entry }: Reader, signature: ts.Signature): boolean {
  const file = signature.declaration?.getSourceFile() ?? entry
  if (/\/node_modules\/@types\//.test(file.fileName)) return false
  if (!/\.[cm]?jsx?$/.test(file.fileName)) return true
  return (
    signature.declaration !== undefined &&
    !ts.isJSDocSignature(signature.declaration) &&
    ts.getJSDocReturnType(signature.declaration) !== undefined
  )
}
