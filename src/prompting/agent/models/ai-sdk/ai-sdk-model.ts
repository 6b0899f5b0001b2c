import { ToolError } from '../../../../contract/tool-error.ts'
import type { Model } from '../../model-type.ts'

/** A language model of the `ai` package's provider interface: what `anthropic('...')` or `google('...')` of its providers gives. Specification v3 (ai@6), and v2 (ai@5). */
export type AiSdkLanguageModel = {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<unknown>
  doStream(options: never): PromiseLike<{ readonly stream: { getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: unknown }>; cancel(reason?: unknown): Promise<void> } } }>
}

const VERSIONS = ['v2', 'v3']

/** Makes a model of any provider of the `ai` package; the package itself is not needed. Throws CONFIG for what is no language model. */
export function aiSdkModel(model: AiSdkLanguageModel, { stream = true }: { /** Take the answer in pieces as it is written; default true. */ readonly stream?: boolean } = {}): Model {
  if (!isLanguageModel(model)) {
    throw new ToolError('CONFIG', `aiSdkModel() takes a language model of the ai package (specification ${VERSIONS.join(' or ')})${typeof model === 'string' ? ', not the name of one' : ''}`, { suggestion: "import { anthropic } from '@ai-sdk/anthropic'; aiSdkModel(anthropic('claude-sonnet-4-5'))" })
  }
  return {
    name: `${model.provider}:${model.modelId}`,
    generate: async (request, how) => (await import('./generate.ts')).generate(model, stream, request, how),
  }
}

/** True for a language model of a version that is known. */
export function isLanguageModel(value: unknown): value is AiSdkLanguageModel {
  const { specificationVersion, doGenerate, doStream } = (value ?? {}) as Partial<AiSdkLanguageModel>
  return typeof doGenerate === 'function' && typeof doStream === 'function' && VERSIONS.includes(String(specificationVersion))
}
