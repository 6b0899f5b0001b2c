import { isObject, parseObject } from '../../../../contract/json.ts'
import { shorten } from '../../../../contract/shorten.ts'
import { ToolError } from '../../../../contract/tool-error.ts'
import type { ModelReply } from '../../model-type.ts'
import { assemble } from './assemble.ts'
import { isError, toldError } from './failure.ts'
import type { OpenAiServer } from './server.ts'
import { readText } from './read-text.ts'

/** Reads a reply that comes as one JSON document. */
export async function readWhole(
  server: OpenAiServer,
  bytes: AsyncIterable<Uint8Array>,
  onText: ((delta: string) => void) | undefined,
): Promise<ModelReply> {
  const text = await readText(bytes)
  const document = parseObject(text)
  if (!document)
    throw new ToolError(
      'DEPENDENCY',
      `the model server ${server.address.origin} did not answer with JSON: ${JSON.stringify(shorten(text, 100))}`,
      { retryable: false, suggestion: 'Look whether the base URL is right: it mostly ends in /v1' },
    )
  if (isError(document['error'])) throw toldError(server, document['error'])
  const choice = Array.isArray(document['choices'])
    ? (document['choices'][0] as unknown)
    : undefined
  if (!isObject(choice))
    throw new ToolError(
      'DEPENDENCY',
      `the model server ${server.address.origin} answered without a choice`,
      { retryable: false },
    )
  const assembly = assemble()
  assembly.count(document['usage'])
  const said = assembly.add(choice)
  if (said !== '') onText?.(said)
  return assembly.reply()
}
