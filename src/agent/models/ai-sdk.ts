/**
 * Models of the `ai` package: `aiSdkModel()`.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import { AI_SDK_VERSIONS, isAiSdkLanguageModel } from '../types.ts'
import type { AiSdkLanguageModel, Model } from '../types.ts'

/**
 * Makes a model of any provider of the `ai` package; the package itself is not needed. Throws
 * CONFIG for what is no language model.
 */
export function aiSdkModel(
  model: AiSdkLanguageModel,
  {
    stream = true,
  }: {
    /** Take the answer in pieces as it is written; default true. */ readonly stream?: boolean
  } = {},
): Model {
  if (!isAiSdkLanguageModel(model)) {
    throw new ToolError(
      'CONFIG',
      `aiSdkModel() takes a language model of the ai package (specification ${AI_SDK_VERSIONS.join(' or ')})${typeof model === 'string' ? ', not the name of one' : ''}`,
      {
        suggestion:
          "import { anthropic } from '@ai-sdk/anthropic'; aiSdkModel(anthropic('claude-sonnet-4-5'))",
      },
    )
  }
  return {
    name: `${model.provider}:${model.modelId}`,
    generate: async (request, how) =>
      (await import('./ai-sdk-request.ts')).generateReply(model, stream, request, how),
  }
}
