export type Fence = {
  readonly language: string
  readonly words: readonly string[]
  readonly body: string
  readonly region: string | undefined
}
export declare function listFences(page: string): Fence[]
