import { ToolError } from '../../../../contract/tool-error.ts'
import type { Model } from '../../model-type.ts'
import { isLanguageModel, VERSIONS } from './language-model.ts'
import type { AiSdkLanguageModel } from './language-model.ts'

/** Makes a model of any provider of the `ai` package; the package itself is not needed. Throws CONFIG for what is no language model. */
export function aiSdkModel(
  model: AiSdkLanguageModel,
  {
    stream = true,
  }: {
    /** Take the answer in pieces as it is written; default true. */ readonly stream?: boolean
  } = {},
): Model {
  if (!isLanguageModel(model)) {
    throw new ToolError(
      'CONFIG',
      `aiSdkModel() takes a language model of the ai package (specification ${VERSIONS.join(' or ')})${typeof model === 'string' ? ', not the name of one' : ''}`,
      {
        suggestion:
          "import { anthropic } from '@ai-sdk/anthropic'; aiSdkModel(anthropic('claude-sonnet-4-5'))",
      },
    )
  }
  return {
    name: `${model.provider}:${model.modelId}`,
    generate: async (request, how) =>
      (await import('./generate.ts')).generate(model, stream, request, how),
  }
}
