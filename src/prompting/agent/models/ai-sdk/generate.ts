import { isObject } from '../../../../contract/json.ts'
import { ToolError } from '../../../../contract/tool-error.ts'
import type { Model, ModelReply, ModelRequest } from '../../model-type.ts'
import type { AiSdkLanguageModel } from './language-model.ts'
import { failureOf } from './failure.ts'
import { gather } from './gather.ts'
import { writeOptions } from './write-options.ts'

/** Characters of one reply. */
const LARGEST = 16 * 1024 * 1024

/** Asks a provider of the `ai` package for one reply. */
export async function generate(
  model: AiSdkLanguageModel,
  stream: boolean,
  request: ModelRequest,
  { signal, onText }: Parameters<Model['generate']>[1],
): Promise<ModelReply> {
  const options = { ...writeOptions(model, request), abortSignal: signal } as never
  try {
    if (stream) return await readParts(model, options, onText)
    const result = await model.doGenerate(options)
    if (!isObject(result) || !Array.isArray(result['content']))
      throw new ToolError('DEPENDENCY', `the model '${model.modelId}' gave no content`, {
        retryable: false,
      })
    const gathered = gather()
    for (const part of result['content'].filter(isObject)) gathered.add(part)
    gathered.add({ type: 'finish', finishReason: result['finishReason'], usage: result['usage'] })
    const reply = gathered.reply()
    if (reply.text !== '') onText?.(reply.text)
    return reply
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw failureOf(error, model)
  }
}

async function readParts(
  model: AiSdkLanguageModel,
  options: never,
  onText: ((delta: string) => void) | undefined,
): Promise<ModelReply> {
  const reader = (await model.doStream(options)).stream.getReader()
  const gathered = gather()
  let size = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (!isObject(value)) continue
      if (value['type'] === 'error') throw value['error']
      const delta = gathered.add(value)
      size += typeof value['delta'] === 'string' ? value['delta'].length : 0
      if (size > LARGEST)
        throw new ToolError(
          'OUTPUT_LIMIT',
          `the model '${model.modelId}' wrote more than ${LARGEST / 1024 / 1024} million characters`,
        )
      if (delta !== '') onText?.(delta)
    }
  } finally {
    // Lets go of the connection where we leave before the end.
    await reader.cancel().catch(() => undefined)
  }
  if (!gathered.finished)
    throw new ToolError(
      'DEPENDENCY',
      `the stream of the model '${model.modelId}' broke off before the reply was whole`,
    )
  return gathered.reply()
}
