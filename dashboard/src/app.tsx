import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Header, PLACES } from './parts/frame/header.tsx'
import { KeyList } from './parts/frame/key-list.tsx'
import { LostBanner } from './parts/frame/lost-banner.tsx'
import { Empty } from './parts/notes.tsx'
import { late } from './screens/late.tsx'
import { NowScreen } from './screens/now/index.tsx'
import type { ScreenProps } from './screens/screen.ts'
import { projectName } from './state/about.ts'
import { announcement } from './state/announce.ts'
import { useKeys } from './state/keys.ts'
import { goTo, route } from './state/route.ts'
import { openQuestions } from './state/stream.ts'

type Place = { readonly title: string; readonly Screen: ComponentType<ScreenProps> }

// By the first part of the path: the list, and the one thing of it that the second part names.
const SCREENS: { readonly [first: string]: readonly [Place, Place?] } = {
  '': [{ title: 'Now', Screen: NowScreen }],
  runs: [
    {
      title: 'Runs',
      Screen: late(async () => (await import('./screens/runs/index.tsx')).RunsScreen),
    },
    { title: 'Run', Screen: late(async () => (await import('./screens/run/index.tsx')).RunScreen) },
  ],
  decisions: [
    {
      title: 'Decisions',
      Screen: late(async () => (await import('./screens/decisions/index.tsx')).DecisionsScreen),
    },
  ],
  tools: [
    {
      title: 'Tools',
      Screen: late(async () => (await import('./screens/tools/index.tsx')).ToolsScreen),
    },
    {
      title: 'Tool',
      Screen: late(async () => (await import('./screens/tool/index.tsx')).ToolScreen),
    },
  ],
  workflows: [
    {
      title: 'Workflows',
      Screen: late(async () => (await import('./screens/workflows/index.tsx')).WorkflowsScreen),
    },
    {
      title: 'Workflow',
      Screen: late(async () => (await import('./screens/workflow/index.tsx')).WorkflowScreen),
    },
  ],
  plan: [
    {
      title: 'Plan',
      Screen: late(async () => (await import('./screens/plan/index.tsx')).PlanScreen),
    },
  ],
  doctor: [
    {
      title: 'Doctor',
      Screen: late(async () => (await import('./screens/doctor/index.tsx')).DoctorScreen),
    },
  ],
}

/** The whole page: the frame, and in it the screen of the route. */
export function App() {
  const { parts, path, query } = route.value
  const [showsKeys, setShowsKeys] = useState(false)
  useKeys([{ key: '?', label: 'Show the keys', run: () => setShowsKeys(true) }, ...GO_KEYS])
  const first = parts[0] ?? ''
  const place =
    Object.hasOwn(SCREENS, first) && parts.length <= 2
      ? SCREENS[first]![parts.length > 1 ? 1 : 0]
      : undefined
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
    label: `Go to a screen: ${PLACES.map(({ key, label }) => `g ${key} ${label}`).join(', ')}`,
    run: () => document.addEventListener('keydown', goOnce, { capture: true, once: true }),
  },
]

function goOnce(event: KeyboardEvent): void {
  const place = PLACES.find(({ key }) => key === event.key)
  if (!place) return
  event.preventDefault()
  event.stopPropagation()
  goTo(place.path)
}
