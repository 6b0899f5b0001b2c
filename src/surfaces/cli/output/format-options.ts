import type { OutputMode } from '../../../define/flags/injected.ts'
import type { RenderInput } from './envelope.ts'

/** A result in the words of its command; ends with a newline. */
export type RenderResult = (
  result: unknown,
  layout: { readonly columns: number | undefined; readonly color: boolean },
) => string

export type FormatOptions = {
  readonly mode: OutputMode
  /** Indents JSON, for a person who looks at it. */
  readonly pretty?: boolean | undefined
  readonly color?: boolean | undefined
  /** Colour of stderr, where it differs from stdout. */
  readonly stderrColor?: boolean | undefined
  /** Width of the terminal on stdout; undefined when stdout is not one. */
  readonly columns?: number | undefined
  readonly renderInput?: RenderInput | undefined
  /** Writes the result in text mode, where the general form does not say enough. */
  readonly renderResult?: RenderResult | undefined
}

/** What goes to which stream, each empty or ending with a newline. */
export type Printed = { readonly stdout: string; readonly stderr: string }
