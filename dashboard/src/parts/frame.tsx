import { useEffect, useRef, useState } from 'preact/hooks'
import { NAVIGATION } from '../screens/table.tsx'
import { about, projectName } from '../state/about.ts'
import { keys } from '../state/keys.ts'
import { toggleUtc, utc } from '../state/preferences.ts'
import { route } from '../state/route.ts'
import { connection, lastNewsAt, refusal } from '../state/stream.ts'
import { Quiet } from './buttons.tsx'
import { Ago, timeText } from './time.tsx'

/** What stands above every screen: where one can go, which project it is, and whether news come. */
export function Header({ onKeys }: { onKeys(): void }) {
  const { parts } = route.value
  const here = parts[0] ?? ''
  return (
    <header class="top">
      <a class="brand" href="/" title={about.value?.project}>
        <span class="mark" aria-hidden="true">
          ▚
        </span>
        <span class="project">{projectName()}</span>
      </a>
      <nav aria-label="Screens">
        {NAVIGATION.map(({ path, title, count }) => {
          const waiting = count?.value ?? 0
          return (
            <a key={path} href={`/${path}`} aria-current={here === path ? 'page' : undefined}>
              {title}
              {waiting > 0 && (
                <span class="count warn" aria-label={`${waiting} waiting`}>
                  {waiting}
                </span>
              )}
            </a>
          )
        })}
      </nav>
      <div class="tools">
        {about.value?.read_only === true && (
          <span class="badge dim" title="Nothing can be started, answered or cancelled from here">
            read-only
          </span>
        )}
        <Connection />
        <Quiet aria-pressed={utc.value} title="Show times in UTC" onClick={toggleUtc}>
          UTC
        </Quiet>
        <Quiet aria-label="Keys" title="Keys (?)" onClick={onKeys}>
          ?
        </Quiet>
      </div>
    </header>
  )
}

const WORDS = {
  connecting: { role: 'dim', word: 'connecting' },
  live: { role: 'ok', word: 'live' },
  lost: { role: 'bad', word: 'no connection' },
} as const

function Connection() {
  const { role, word } = WORDS[connection.value]
  return (
    <span
      class={`connection ${role}`}
      role="status"
      aria-label={`Connection: ${word}`}
      title={`Connection: ${word}`}
    >
      <span class="dot" aria-hidden="true" />
      <span class="word">{word}</span>
    </span>
  )
}

/** Says that what is shown may be old, since when, and what to do; nothing while news come. */
export function LostBanner() {
  const isLost = connection.value === 'lost'
  const [late, setLate] = useState(false)
  useEffect(() => {
    // A short interruption is not worth a banner.
    const timer = isLost ? setTimeout(() => setLate(true), 700) : undefined
    if (!isLost) setLate(false)
    return () => clearTimeout(timer)
  }, [isLost])
  if (!isLost || !late) return null
  return (
    <div class="banner" role="alert">
      <strong>
        {refusal.value
          ? 'The server does not let this page in.'
          : 'The connection to the server is lost.'}
      </strong>{' '}
      {refusal.value ? (
        <>
          Open the address that <code>toolable ui</code> printed.{' '}
        </>
      ) : (
        'Trying again … '
      )}
      {lastNewsAt.value !== undefined && (
        <span>
          Last news{' '}
          <span title={timeText(lastNewsAt.value)}>
            <Ago at={lastNewsAt.value} />
          </span>
          .
        </span>
      )}
    </div>
  )
}

/** The keys that work on this screen. */
export function KeyList({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const shown = keys.value.flat().filter(({ label }) => label !== '')
  return (
    <dialog
      ref={dialog}
      class="keys"
      aria-label="Keys"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <h2>Keys</h2>
      <dl>
        {shown.map(({ key, label }) => (
          <div key={label}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  )
}
