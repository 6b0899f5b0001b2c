/** A language model of the `ai` package's provider interface: what `anthropic('...')` or `google('...')` of its providers gives. Specification v3 (ai@6), and v2 (ai@5). */
export type AiSdkLanguageModel = {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<unknown>
  doStream(
    options: never,
  ): PromiseLike<{
    readonly stream: {
      getReader(): {
        read(): Promise<{ readonly done: boolean; readonly value?: unknown }>
        cancel(reason?: unknown): Promise<void>
      }
    }
  }>
}

/** The versions of the interface that are known. */
export const VERSIONS = ['v2', 'v3']

/** True for a language model of a version that is known. */
export function isLanguageModel(value: unknown): value is AiSdkLanguageModel {
  const { specificationVersion, doGenerate, doStream } = (value ??
    {}) as Partial<AiSdkLanguageModel>
  return (
    typeof doGenerate === 'function' &&
    typeof doStream === 'function' &&
    VERSIONS.includes(String(specificationVersion))
  )
}
