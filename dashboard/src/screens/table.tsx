/**
 * The screens of the dashboard, one row each: address, title, navigation and keyboard.
 *
 * A new screen is a file beside this one and a row here; see "Add a dashboard screen" in
 * CONTRIBUTING.md.
 */

import type { ReadonlySignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { lazy } from '../parts/lazy.tsx'
import { openQuestions } from '../state/stream.ts'
import NowScreen from './now.tsx'

/** What a screen gets: the parts of the path, its own name first, and the query. */
export type ScreenProps = { readonly parts: readonly string[]; readonly query: URLSearchParams }

/** A row of the table of screens. */
type ScreenEntry = {
  /** The path below `/`; `runs/*` is the screen of one thing, which the second part names. */
  readonly path: string
  readonly title: string
  /** The letter that opens it after `g`. Screens with a key are in the navigation. */
  readonly key?: string
  /** A number shown beside its name in the navigation, unless it is 0. */
  readonly count?: ReadonlySignal<number>
  readonly Screen: ComponentType<ScreenProps>
}

/** All screens, in the order of the navigation. */
const SCREENS: readonly ScreenEntry[] = [
  { path: '', title: 'Now', key: 'n', Screen: NowScreen },
  { path: 'runs', title: 'Runs', key: 'r', Screen: lazy(() => import('./runs/index.tsx')) },
  { path: 'runs/*', title: 'Run', Screen: lazy(() => import('./run/index.tsx')) },
  {
    path: 'decisions',
    title: 'Decisions',
    key: 'd',
    count: openQuestions,
    Screen: lazy(() => import('./decisions.tsx')),
  },
  { path: 'tools', title: 'Tools', key: 't', Screen: lazy(() => import('./tools/index.tsx')) },
  { path: 'tools/*', title: 'Tool', Screen: lazy(() => import('./tool/index.tsx')) },
  {
    path: 'workflows',
    title: 'Workflows',
    key: 'w',
    Screen: lazy(() => import('./workflows.tsx')),
  },
  { path: 'workflows/*', title: 'Workflow', Screen: lazy(() => import('./workflow.tsx')) },
  { path: 'plan', title: 'Plan', key: 'p', Screen: lazy(() => import('./plan.tsx')) },
  { path: 'doctor', title: 'Doctor', key: 'o', Screen: lazy(() => import('./doctor.tsx')) },
]

/** The screens that the navigation leads to. */
export const NAVIGATION = SCREENS.filter(({ key }) => key !== undefined)

/** The screen of a path; undefined where there is none. */
export function findScreen(parts: readonly string[]): ScreenEntry | undefined {
  return SCREENS.find(({ path }) => {
    const [name, one] = path.split('/')
    return name === (parts[0] ?? '') && parts.length <= 2 && (one === '*') === parts.length > 1
  })
}
