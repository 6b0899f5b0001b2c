import { CopyButton } from '../../parts/copy-button.tsx'

type Props = {
  readonly look: readonly [role: string, symbol: string, word: string]
  readonly name: string
  readonly found: string
  readonly fix?: string | undefined
}

/** Something that was found, and what mends it. */
export function Finding({ look: [role, symbol, word], name, found, fix }: Props) {
  return (
    <li>
      <span class={role}>
        <span aria-hidden="true">{symbol}</span> {word}
      </span>
      <div>
        <strong>{name}</strong> <span class="dim">{found}</span>
        {fix !== undefined && (
          <p class="fix">
            <code>{fix}</code>
            <CopyButton label="Copy fix" text={fix} />
          </p>
        )}
      </div>
    </li>
  )
}
