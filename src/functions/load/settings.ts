/** What running TypeScript needs to know. Plain data: it goes to the thread of the hooks. */
export type LoadSettings = {
  /** Where packages are looked for besides the module's own folder. */
  readonly folders: readonly string[]
  /** Where what was made of a file is kept; undefined: nowhere. */
  readonly cacheFolder: string | undefined
  /** Of this package. */
  readonly version: string
}
