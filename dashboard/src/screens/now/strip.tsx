type Props = {
  readonly running: number
  readonly queued: number
  readonly waiting: number
  readonly failedToday: number
  readonly midnight: string
}

/** The numbers of this moment, each a way to what it counts. */
export function Strip({ running, queued, waiting, failedToday, midnight }: Props) {
  return (
    <ul class="strip" aria-label="Counts">
      <Count role="run" amount={running} words="running" href="/runs?state=running" />
      {queued > 0 && <Count role="dim" amount={queued} words="queued" href="/runs?state=queued" />}
      <Count role="warn" amount={waiting} words="waiting for you" href="/decisions" />
      <Count
        role="bad"
        amount={failedToday}
        words="failed today"
        href={`/runs?state=failed&since=${encodeURIComponent(midnight)}`}
      />
    </ul>
  )
}

function Count({
  role,
  amount,
  words,
  href,
}: {
  readonly role: string
  readonly amount: number
  readonly words: string
  readonly href: string
}) {
  return (
    <li>
      <a class={amount > 0 ? role : 'dim none'} href={href}>
        <strong class="number">{amount.toLocaleString('en')}</strong> {words}
      </a>
    </li>
  )
}
