import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Empty, Loading } from '../parts/notes.tsx'
import type { ScreenProps } from './screen.ts'

/** A screen whose script comes when somebody goes there: a page loads no more than it shows. */
export function late(load: () => Promise<ComponentType<ScreenProps>>): ComponentType<ScreenProps> {
  let loaded: ComponentType<ScreenProps> | undefined
  return function Late(props) {
    const [state, setState] = useState<'ready' | 'failed'>()
    useEffect(() => {
      if (loaded) return
      load().then((Screen) => {
        loaded = Screen
        setState('ready')
      }, () => setState('failed'))
    }, [])
    if (loaded) {
      const Screen = loaded
      return <Screen {...props} />
    }
    // Another version of the server has other scripts.
    return state === 'failed' ? <Empty title="This screen could not be loaded"><p>The server is away, or another version of it runs now.</p><p><button type="button" onClick={() => location.reload()}>Load the page anew</button></p></Empty> : <Loading />
  }
}
