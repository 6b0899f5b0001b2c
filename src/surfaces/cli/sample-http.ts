import type { Sampler } from '../../contract/interaction.ts'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { readCompletion } from './dialogue.ts'

/** Completes prompts by POST to a URL; the answer is JSON with `content`. */
export function httpSampler(url: string): Sampler {
  return async (request, signal) => {
    const response = await post(url, { type: 'sample_request', ...request }, signal)
    if (response.status === 429)
      throw new ToolError('RATE_LIMIT', `the sample endpoint ${url} answered 429`)
    if (!response.ok)
      throw new ToolError(
        'DEPENDENCY',
        `the sample endpoint ${url} answered ${response.status} ${response.statusText}`.trim(),
      )
    const answer: unknown = await response.json().catch(() => undefined)
    if (!isObject(answer))
      throw new ToolError(
        'DEPENDENCY',
        `the sample endpoint ${url} did not answer with a JSON object`,
      )
    return readCompletion(answer)
  }
}

async function post(url: string, body: object, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const { message, cause } = error as Error & { cause?: { code?: string; message?: string } }
    throw new ToolError(
      'DEPENDENCY',
      `the sample endpoint ${url} cannot be reached: ${cause?.code ?? cause?.message ?? message}`,
      { cause: error },
    )
  }
}
