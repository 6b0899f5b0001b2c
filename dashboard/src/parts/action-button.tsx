import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isReadOnly } from '../state/about.ts'
import { Problem } from './notes.tsx'

type Props = {
  readonly label: string
  /** A question that is asked before anything happens. */
  readonly confirm?: string | undefined
  readonly danger?: boolean
  readonly primary?: boolean
  readonly disabled?: boolean
  readonly title?: string | undefined
  /** It changes nothing, so that it works on a page that is for reading only. */
  readonly harmless?: boolean
  run(): Promise<unknown>
}

/**
 * A button that does something at the server: it asks first where it should, cannot be pressed
 * twice, and says what went wrong.
 */
export function ActionButton({
  label,
  confirm,
  danger = false,
  primary = false,
  disabled = false,
  title,
  harmless = false,
  run,
}: Props) {
  const [stage, setStage] = useState<'rest' | 'asking' | 'busy'>('rest')
  const [error, setError] = useState<unknown>()
  const alive = useRef(true)
  const yes = useRef<HTMLButtonElement>(null)
  useEffect(() => () => void (alive.current = false), [])
  useLayoutEffect(() => void (stage === 'asking' && yes.current?.focus()), [stage])
  const forbidden = !harmless && isReadOnly()
  const act = async (): Promise<void> => {
    setStage('busy')
    setError(undefined)
    const failure = await run().then(
      () => undefined,
      (thrown: unknown) => thrown ?? new Error('it failed'),
    )
    if (!alive.current) return
    setError(failure)
    setStage('rest')
  }
  const look = danger ? 'danger' : primary ? 'primary' : ''
  if (stage === 'asking') {
    return (
      <span
        class="asking"
        role="group"
        aria-label={confirm}
        onKeyDown={(event) => event.key === 'Escape' && setStage('rest')}
      >
        <span>{confirm}</span>
        <button type="button" ref={yes} class={look} onClick={() => void act()}>
          {label}
        </button>
        <button type="button" class="quiet" onClick={() => setStage('rest')}>
          No
        </button>
      </span>
    )
  }
  return (
    <span class="action">
      <button
        type="button"
        class={look}
        disabled={disabled || forbidden || stage === 'busy'}
        aria-busy={stage === 'busy'}
        title={forbidden ? 'This page is for reading only' : title}
        onClick={() => (confirm === undefined ? void act() : setStage('asking'))}
      >
        {label}
      </button>
      {error !== undefined && <Problem error={error} />}
    </span>
  )
}
