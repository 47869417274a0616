import type { Platform } from '../../../infra/contract/platforms.ts';
import type { HourOfWeek } from './weekly-times.ts';

interface DefaultTimes {
  /** 0 = Sunday. */
  days: readonly number[];
  hours: readonly number[];
}

const DAILY = [0, 1, 2, 3, 4, 5, 6];
const WORKDAYS = [1, 2, 3, 4, 5];

const MICROBLOG: DefaultTimes[] = [{ days: WORKDAYS, hours: [9, 12, 17] }];
const BUSINESS: DefaultTimes[] = [{ days: [2, 3, 4], hours: [10, 8] }, { days: [1, 5], hours: [10] }];
const CHAT: DefaultTimes[] = [{ days: DAILY, hours: [18] }];
const MESSAGE: DefaultTimes[] = [{ days: WORKDAYS, hours: [11] }];
const NEWSLETTER: DefaultTimes[] = [{ days: [2, 4], hours: [10] }];

/** When posts of a platform are seen most, where nothing is known of the account itself. The hour named first is the best. */
const DEFAULT_TIMES: Readonly<Record<Platform, readonly DefaultTimes[]>> = {
  twitter: MICROBLOG, threads: MICROBLOG, bluesky: MICROBLOG, mastodon: MICROBLOG,
  linkedin: BUSINESS, googlebusiness: BUSINESS,
  facebook: [{ days: WORKDAYS, hours: [13, 9] }, { days: [6], hours: [11] }],
  instagram: [{ days: WORKDAYS, hours: [11, 19] }, { days: [6, 0], hours: [10] }],
  tiktok: [{ days: DAILY, hours: [19, 12] }],
  youtube: [{ days: [4, 5, 6], hours: [15] }, { days: [0], hours: [11] }],
  pinterest: [{ days: DAILY, hours: [20] }],
  snapchat: [{ days: DAILY, hours: [21] }],
  reddit: [{ days: WORKDAYS, hours: [8] }, { days: [0], hours: [9] }],
  telegram: CHAT, discord: CHAT,
  whatsapp: MESSAGE, sms: MESSAGE,
  beehiiv: NEWSLETTER, convertkit: NEWSLETTER, mailchimp: NEWSLETTER, listmonk: NEWSLETTER,
};

const OTHER_HOUR = 0.8;

/** Every default hour of these platforms; an hour that two of them name is there twice. */
export function defaultHours(platforms: readonly Platform[]): HourOfWeek[] {
  return platforms.flatMap((platform) => DEFAULT_TIMES[platform]).flatMap(({ days, hours }) => days.flatMap((weekday) => hours.map((hour) => ({ weekday, hour }))));
}

/** How good an hour is by the defaults, 0..1: the mean over the platforms of a post's accounts, one entry for each account. */
export function defaultEngagement(platforms: readonly Platform[], at: HourOfWeek): number {
  return platforms.reduce((sum, platform) => sum + ofPlatform(platform, at), 0) / Math.max(platforms.length, 1);
}

function ofPlatform(platform: Platform, { weekday, hour }: HourOfWeek): number {
  const times = DEFAULT_TIMES[platform];
  if (!times.some(({ days, hours }) => days.includes(weekday) && hours.includes(hour))) return 0;
  return hour === times[0]!.hours[0] ? 1 : OTHER_HOUR;
}
