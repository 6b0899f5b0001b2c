import type { ScreenProps } from '../screen.ts'

/** The screen Now. */
export function NowScreen({ parts }: ScreenProps) {
  return <p>{parts.join(' / ')}</p>
}
