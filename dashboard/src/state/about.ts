import { effect, signal } from '@preact/signals'
import type { DashboardInfo } from '../../../src/views/model/api.ts'
import { get } from './api.ts'
import { setServerClock } from './clock.ts'
import { resets } from './stream.ts'

/** What the server says about itself; undefined until it has. */
export const about = signal<DashboardInfo | undefined>(undefined)

/** What the project is called: the folder that it lies in. */
export const projectName = (): string =>
  about.value?.project.split('/').findLast((part) => part !== '') ?? 'toolable'

/** Whether nothing can be changed from here. */
export const isReadOnly = (): boolean => about.value?.read_only === true

/** Asks the server about itself, now and after each restart. */
export function learnAbout(): void {
  effect(() => {
    void resets.value
    void get<DashboardInfo>('/about').then(
      (told) => {
        about.value = told
        setServerClock(told.now)
      },
      // The banner already says that the connection is lost.
      () => undefined,
    )
  })
}
