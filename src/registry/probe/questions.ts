/** Milliseconds in which an answer is wanted; what comes later counts, with a warning. */
export const WANTED = 200

/** One question to a candidate. */
export type Question = {
  readonly about: 'simple' | 'multi-schema' | 'schema' | 'discover' | 'manifest' | 'help'
  readonly args: readonly string[]
  /** Milliseconds. */ readonly patience: number
}

// Byte for byte: tools compare the argument as text.
export const SIMPLE: Question = { about: 'simple', args: ['{"__test__": true}'], patience: 2000 }
export const MULTI_SCHEMA: Question = {
  about: 'multi-schema',
  args: ['--fractalic-dump-multi-schema'],
  patience: 2000,
}
export const SCHEMA: Question = {
  about: 'schema',
  args: ['--fractalic-dump-schema'],
  patience: 2000,
}
export const DISCOVER: Question = { about: 'discover', args: ['--discover'], patience: 5000 }
export const HELP: Question = { about: 'help', args: ['--help'], patience: 2000 }

/** Asks for the schemas of all tools of a program at once, or of one tool. */
export const manifestOf = (...tool: readonly string[]): Question => ({
  about: 'manifest',
  args: [...tool, '--manifest'],
  patience: 5000,
})
