/**
 * The table of output formats.
 *
 * A new format is one file in this folder that exports `format`, and one line in this table. The
 * choices of `--output`, help, completion and the type `OutputMode` follow from the table.
 */

import type { OutcomeFormatter } from './envelope.ts'

type OutputFormat = {
  /**
   * True for formats that print the whole envelope, for programs. The others print the bare result,
   * and everything else in words on stderr.
   */
  readonly isEnvelope: boolean
  /** A call loads only the format that it prints. */
  load(): Promise<{ readonly format: OutcomeFormatter }>
}

export const OUTPUT_FORMATS = {
  json: { isEnvelope: true, load: () => import('./json.ts') },
  jsonl: { isEnvelope: true, load: () => import('./jsonl.ts') },
  text: { isEnvelope: false, load: () => import('./text.ts') },
  yaml: { isEnvelope: true, load: () => import('./yaml.ts') },
  toon: { isEnvelope: true, load: () => import('./toon.ts') },
  md: { isEnvelope: false, load: () => import('./md.ts') },
  csv: { isEnvelope: false, load: () => import('./csv.ts') },
} as const satisfies { readonly [mode: string]: OutputFormat }

/** The forms that a result can be printed in. */
export type OutputMode = keyof typeof OUTPUT_FORMATS

/** The names that `--output` takes, besides `auto`. */
export const OUTPUT_MODES = Object.keys(OUTPUT_FORMATS) as readonly OutputMode[]
