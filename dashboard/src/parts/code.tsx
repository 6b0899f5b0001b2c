import { useMemo } from 'preact/hooks'
import type { CodeLanguage } from '../../../src/views/model/highlight.ts'
import { tokenize } from '../../../src/views/model/highlight.ts'
import { CopyButton } from './buttons.tsx'

type Props = {
  readonly text: string
  /** What is copied, where that is not what is shown. */ readonly copied?: string
  readonly label: string
  readonly language?: CodeLanguage
  /** What the button that copies it is called; none where there is no label. */ readonly copy?: string
  /** Long lines are broken instead of scrolled. */ readonly wrap?: boolean
}

/** A text of a program, coloured as far as that helps, with a button that copies it. */
export function Code({
  text,
  copied = text,
  label,
  language = 'text',
  copy = `Copy ${label}`,
  wrap = false,
}: Props) {
  const tokens = useMemo(() => tokenize(text, language), [text, language])
  return (
    <div class="code" role="group" aria-label={label}>
      <div class="corner">
        <CopyButton label={copy} text={copied} />
      </div>
      <pre tabIndex={0} class={wrap ? 'wraps' : ''}>
        {tokens.map(({ text: piece, kind }) =>
          kind === undefined ? piece : <span class={`token-${kind}`}>{piece}</span>,
        )}
      </pre>
    </div>
  )
}
