import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isReadOnly } from '../state/about.ts'
import { announce } from '../state/announce.ts'
import { ApiError } from '../state/api.ts'
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
  const look = (danger && 'danger') || (primary && 'primary') || ''
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

type ConfirmedProps = {
  readonly label: string
  readonly primary?: boolean
  readonly disabled?: boolean
  send(confirm: boolean): Promise<unknown>
}

/**
 * A button that starts a tool. Where the tool is destructive, which the server knows, it has to be
 * pressed once more.
 */
export function ConfirmedAction({
  label,
  primary = false,
  disabled = false,
  send,
}: ConfirmedProps) {
  const [needed, setNeeded] = useState(false)
  const run = async (): Promise<void> => {
    try {
      await send(needed)
    } catch (error) {
      if (needed || !(error instanceof ApiError) || error.code !== 'CONFIRMATION_REQUIRED')
        throw error
      setNeeded(true)
    }
  }
  return (
    <>
      <ActionButton
        label={needed ? `${label}, I confirm` : label}
        primary={primary}
        danger={needed}
        disabled={disabled}
        run={run}
      />
      {needed && (
        <span class="warn" role="status">
          What this tool does cannot be undone.
        </span>
      )}
    </>
  )
}

/** Puts a text, or what a function gives, on the clipboard, and says so. */
export function CopyButton({
  text,
  label = 'Copy',
  short = false,
  outlined = false,
}: {
  readonly text: string | (() => string)
  readonly label?: string
  /** Shows only `Copy`; the label is its name. */ readonly short?: boolean
  /** Looks like the buttons beside it. */ readonly outlined?: boolean
}) {
  const [said, setSaid] = useState<string>()
  const copy = async (): Promise<void> => {
    const done = await navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
      () => true,
      () => false,
    )
    setSaid(done ? 'Copied' : 'Could not copy')
    announce(done ? 'Copied' : 'Could not copy')
    setTimeout(() => setSaid(undefined), 1500)
  }
  return (
    <button
      type="button"
      class={outlined ? '' : 'quiet'}
      aria-label={label}
      onClick={() => void copy()}
    >
      {said ?? (short ? 'Copy' : label)}
    </button>
  )
}

/** A button that stays in the background. */
export function Quiet({ class: name = '', ...props }: JSX.IntrinsicElements['button']) {
  return <button type="button" class={`quiet ${String(name)}`} {...props} />
}
