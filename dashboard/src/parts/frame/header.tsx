import { about, projectName } from '../../state/about.ts'
import { toggleUtc, utc } from '../../state/preferences.ts'
import { route } from '../../state/route.ts'
import { connection, openQuestions } from '../../state/stream.ts'

/** The screens that the navigation leads to, and the key after `g` that does. */
export const PLACES = [
  { path: '/', label: 'Now', key: 'n' },
  { path: '/runs', label: 'Runs', key: 'r' },
  { path: '/decisions', label: 'Decisions', key: 'd' },
  { path: '/tools', label: 'Tools', key: 't' },
  { path: '/workflows', label: 'Workflows', key: 'w' },
  { path: '/plan', label: 'Plan', key: 'p' },
  { path: '/doctor', label: 'Doctor', key: 'o' },
] as const

/** What stands above every screen: where one can go, which project it is, and whether news come. */
export function Header({ onKeys }: { onKeys(): void }) {
  const { parts } = route.value
  const here = `/${parts[0] ?? ''}`
  return (
    <header class="top">
      <a class="brand" href="/" title={about.value?.project}>
        <span class="mark" aria-hidden="true">
          ▚
        </span>
        <span class="project">{projectName()}</span>
      </a>
      <nav aria-label="Screens">
        {PLACES.map(({ path, label }) => {
          const waiting = label === 'Decisions' ? openQuestions.value : 0
          return (
            <a key={path} href={path} aria-current={here === path ? 'page' : undefined}>
              {label}
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
        <button
          type="button"
          class="quiet"
          aria-pressed={utc.value}
          title="Show times in UTC"
          onClick={toggleUtc}
        >
          UTC
        </button>
        <button type="button" class="quiet" aria-label="Keys" title="Keys (?)" onClick={onKeys}>
          ?
        </button>
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
