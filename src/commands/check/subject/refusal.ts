import { readOutcome } from '../../../contract/dialects/read-outcome.ts'
import { isObject } from '../../../contract/json.ts'
import type { ErrorObject } from '../../../contract/outcome.ts'
import { documentOf } from './parse-document.ts'
import type { DescribedTool, Ran, Subject } from './subject.ts'

/** How a program answered something that it should refuse. */
export type Refusal = {
  readonly ran: Ran
  readonly document: { readonly value: unknown } | undefined
  /** The error in it, whatever dialect it speaks. */
  readonly error: ErrorObject | undefined
  /** It says a code of its own. */
  readonly hasCode: boolean
}

/** Sends something that should be refused. */
export async function provoke(subject: Subject, args: readonly string[]): Promise<Refusal> {
  const ran = await subject.ask(args)
  const document = documentOf(ran)
  const outcome =
    document &&
    readOutcome(document.value, {
      tool: subject.path,
      ...(ran.status !== null && { exitCode: ran.status }),
    })
  const error = outcome?.ok === false ? outcome.error : undefined
  return { ran, document, error, hasCode: hasCode(document?.value) }
}

/** The arguments that name a tool, then what is for it. */
export function callArguments(
  { speech, tools }: Subject,
  tool: DescribedTool,
  ...rest: readonly string[]
): readonly string[] {
  return speech === 'multi-dump' || (speech === 'discover' && tools.length > 1)
    ? [tool.name, ...rest]
    : rest
}

function hasCode(document: unknown): boolean {
  if (!isObject(document)) return false
  const error = isObject(document['error']) ? document['error'] : document
  return typeof error['code'] === 'string' || typeof error['error_code'] === 'string'
}
