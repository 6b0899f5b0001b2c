import { isObject } from '../../../../contract/json.ts'
import { shorten } from '../../../../contract/shorten.ts'
import { ToolError } from '../../../../contract/tool-error.ts'
import { toToolError } from '../../../../call/failure.ts'
import { httpCode } from '../../../../registry/http/status.ts'
import { readWait } from '../read-wait.ts'
import type { AiSdkLanguageModel } from './language-model.ts'

/** What a provider threw, with whether it may be asked again: its errors say so themselves. */
export function failureOf(thrown: unknown, { provider, modelId }: AiSdkLanguageModel): ToolError {
  if (ToolError.is(thrown)) return thrown
  const { name, message, statusCode, isRetryable, responseHeaders } = (
    isObject(thrown) || thrown instanceof Error ? thrown : { message: String(thrown) }
  ) as { readonly [field: string]: unknown }
  const who = `the model '${provider}:${modelId}'`
  const words = shorten(typeof message === 'string' ? message : 'error', 1000)
  if (/LoadAPIKey|LoadSetting/.test(String(name)))
    return new ToolError('CONFIG', `${who} cannot be used: ${words}`)
  if (typeof statusCode !== 'number') {
    const { code } = toToolError(thrown)
    return new ToolError(code === 'INTERNAL' ? 'DEPENDENCY' : code, `${who} failed: ${words}`, {
      retryable: isRetryable === true || code === 'DEPENDENCY',
      cause: thrown,
    })
  }
  const headers = isObject(responseHeaders) ? responseHeaders : {}
  const wait = readWait((header) => headers[header])
  return new ToolError(httpCode(statusCode), `${who} answered ${statusCode}: ${words}`, {
    ...(typeof isRetryable === 'boolean' && { retryable: isRetryable }),
    details: { status: statusCode, ...(wait !== undefined && { retry_after_s: wait }) },
  })
}
