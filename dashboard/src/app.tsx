import { useEffect, useState } from 'preact/hooks'
import { Header, KeyList, LostBanner } from './parts/frame.tsx'
import { Empty } from './parts/notes.tsx'
import { findScreen, NAVIGATION } from './screens/table.tsx'
import { projectName } from './state/about.ts'
import { announcement } from './state/announce.ts'
import { useKeys } from './state/keys.ts'
import { goTo, route } from './state/route.ts'
import { openQuestions } from './state/stream.ts'

/** The whole page: the frame, and in it the screen of the route. */
export function App() {
  const { parts, path, query } = route.value
  const [showsKeys, setShowsKeys] = useState(false)
  useKeys([{ key: '?', label: 'Show the keys', run: () => setShowsKeys(true) }, ...GO_KEYS])
  const place = findScreen(parts)
  const waiting = openQuestions.value
  const title = `${waiting > 0 ? `(${waiting}) ` : ''}${parts[1] ?? place?.title ?? 'Not here'} · ${projectName()}`
  useEffect(() => void (document.title = title), [title])
  return (
    <>
      <a class="skip" href="#content">
        To the content
      </a>
      <Header onKeys={() => setShowsKeys(true)} />
      <LostBanner />
      <main id="content" class={`screen-${place?.title.toLowerCase() ?? 'none'}`} tabIndex={-1}>
        {place ? (
          <place.Screen key={parts.join('/')} parts={parts} query={query} />
        ) : (
          <Empty title="There is nothing at this address">
            <p>
              <code>{path}</code>
            </p>
            <p>
              <a href="/">Go to Now</a>
            </p>
          </Empty>
        )}
      </main>
      <div class="hidden" aria-live="polite">
        {announcement.value}
      </div>
      {showsKeys && <KeyList onClose={() => setShowsKeys(false)} />}
    </>
  )
}

// `g` and a letter go to a screen, as two keys one after the other, however fast.
const GO_KEYS = [
  {
    key: 'g',
    label: `Go to a screen: ${NAVIGATION.map(({ key, title }) => `g ${key} ${title}`).join(', ')}`,
    run: () => document.addEventListener('keydown', goOnce, { capture: true, once: true }),
  },
]

function goOnce(event: KeyboardEvent): void {
  const place = NAVIGATION.find(({ key }) => key === event.key)
  if (!place) return
  event.preventDefault()
  event.stopPropagation()
  goTo(`/${place.path}`)
}
