/** What a first tool can be written in. */
export type Language = 'ts' | 'python' | 'sh'
