import { describe, expect, test } from "vitest";
import { randomText, seededRandom } from "./random-text.ts";
import { parseQueryWindow, resolveTimeExpressions, type TimeExpression } from "./time-expressions.ts";

/** Wednesday, 10 May 2023, 13:56 UTC. */
const referenceUs = Date.UTC(2023, 4, 10, 13, 56) * 1000;
const day = (us: number) => new Date(Math.floor(us / 1000)).toISOString().slice(0, 10);
const days = (time: TimeExpression) => `${day(time.interval.startUs)}..${day(time.interval.endUs)}`;

describe("resolveTimeExpressions", () => {
  test.each([
    ["I went there yesterday", "yesterday", "2023-05-09..2023-05-09"],
    ["It was great last night", "last night", "2023-05-09..2023-05-09"],
    ["We ate out the day before yesterday", "the day before yesterday", "2023-05-08..2023-05-08"],
    ["I'll call tomorrow", "tomorrow", "2023-05-11..2023-05-11"],
    ["I ran this morning", "this morning", "2023-05-10..2023-05-10"],
    ["An hour ago it rained", "An hour ago", "2023-05-10..2023-05-10"],
    ["I saw her the other day", "the other day", "2023-05-03..2023-05-09"],
    ["3 days ago", "3 days ago", "2023-05-07..2023-05-07"],
    ["two weeks ago", "two weeks ago", "2023-04-23..2023-04-29"],
    ["two months ago", "two months ago", "2023-03-01..2023-03-31"],
    ["three years ago", "three years ago", "2020-01-01..2020-12-31"],
    ["two weekends ago", "two weekends ago", "2023-04-29..2023-04-30"],
    ["a couple of days ago", "a couple of days ago", "2023-05-07..2023-05-09"],
    ["a few weeks ago", "a few weeks ago", "2023-04-05..2023-04-26"],
    ["several months ago", "several months ago", "2022-12-11..2023-03-11"],
    ["a few years back", "a few years back", "2018-01-01..2021-12-31"],
    ["I'll go in two weeks", "in two weeks", "2023-05-21..2023-05-27"],
    ["three days from now", "three days from now", "2023-05-13..2023-05-13"],
    ["I ran a lot over the past two weeks", "over the past two weeks", "2023-04-26..2023-05-10"],
    ["last week", "last week", "2023-05-01..2023-05-07"],
    ["the week before last", "the week before last", "2023-04-24..2023-04-30"],
    ["earlier this week", "earlier this week", "2023-05-08..2023-05-14"],
    ["last weekend", "last weekend", "2023-05-06..2023-05-07"],
    ["We hiked over the weekend and loved it", "over the weekend", "2023-05-06..2023-05-07"],
    ["this weekend", "this weekend", "2023-05-13..2023-05-14"],
    ["next month", "next month", "2023-06-01..2023-06-30"],
    ["last month", "last month", "2023-04-01..2023-04-30"],
    ["last year", "last year", "2022-01-01..2022-12-31"],
    ["last quarter", "last quarter", "2023-01-01..2023-03-31"],
    ["last Friday", "last Friday", "2023-05-05..2023-05-05"],
    ["last Wednesday", "last Wednesday", "2023-05-03..2023-05-03"],
    ["We met on Friday", "on Friday", "2023-05-05..2023-05-05"],
    ["We will meet on Friday", "on Friday", "2023-05-12..2023-05-12"],
    ["next Friday", "next Friday", "2023-05-19..2023-05-19"],
    ["I went in June", "in June", "2022-06-01..2022-06-30"],
    ["I will go in June", "in June", "2023-06-01..2023-06-30"],
    ["last May", "last May", "2022-05-01..2022-05-31"],
    ["the end of June is when we will go", "the end of June", "2023-06-21..2023-06-30"],
    ["in early March 2020", "early March 2020", "2020-03-01..2020-03-10"],
    ["in 2019 we moved", "in 2019", "2019-01-01..2019-12-31"],
    ["back in 2019", "back in 2019", "2019-01-01..2019-12-31"],
    ["late 2022", "late 2022", "2022-09-01..2022-12-31"],
    ["from 2018 to 2020", "from 2018 to 2020", "2018-01-01..2020-12-31"],
    ["in the 1980s", "the 1980s", "1980-01-01..1989-12-31"],
    ["music of the 90s", "the 90s", "1990-01-01..1999-12-31"],
    ["Q2 2023", "Q2 2023", "2023-04-01..2023-06-30"],
    ["the third quarter of 2021", "third quarter of 2021", "2021-07-01..2021-09-30"],
    ["last spring", "last spring", "2022-03-01..2022-05-31"],
    ["last winter", "last winter", "2022-12-01..2023-02-28"],
    ["next summer", "next summer", "2023-06-01..2023-08-31"],
    ["the summer of 2021", "the summer of 2021", "2021-06-01..2021-08-31"],
    ["between June and August 2022", "between June and August 2022", "2022-06-01..2022-08-31"],
    ["June-August 2022", "June-August 2022", "2022-06-01..2022-08-31"],
    ["from November 2021 to February 2022", "from November 2021 to February 2022", "2021-11-01..2022-02-28"],
    ["July 3, 2023", "July 3, 2023", "2023-07-03..2023-07-03"],
    ["on Monday, July 3, 2023", "on Monday, July 3, 2023", "2023-07-03..2023-07-03"],
    ["We met on 5 June", "on 5 June", "2022-06-05..2022-06-05"],
    ["May 3 to May 7", "May 3 to May 7", "2023-05-03..2023-05-07"],
    ["due 2023-08-01", "2023-08-01", "2023-08-01..2023-08-01"],
    ["last Halloween", "last Halloween", "2022-10-31..2022-10-31"],
  ])("%j", (text, words, expected) => {
    expect(resolveTimeExpressions(text, referenceUs).map((time) => [time.text, days(time)])).toEqual([[words, expected]]);
  });

  test.each([
    ["a modal or a verb that looks like a month", "I may march with them"],
    ["a habit", "I swim every Friday"],
    ["a plural weekday", "Fridays are busy"],
    ["a duration", "I lived there for two years"],
    ["how long something took", "I learned it in two weeks"],
    ["a bare number", "Room 2019 has 1990 seats"],
    ["a quantity after a preposition", "from 2000 people"],
    ["a time of day", "See you at 5pm"],
    ["a fraction", "2/3 of it, open 24/7"],
    ["a version", "version 2.10.3 is out"],
    ["an empty text", ""],
  ])("nothing in %s", (_, text) => {
    expect(resolveTimeExpressions(text, referenceUs)).toEqual([]);
  });

  test("several expressions come in order of appearance, with kind, precision and guessed years marked", () => {
    const times = resolveTimeExpressions("Last week I saw it, on July 4th and in 2019.", referenceUs);
    expect(times.map(({ text, kind, precision, yearIsImplied }) => [text, kind, precision, yearIsImplied])).toEqual([
      ["Last week", "period", "week", false],
      ["July 4th", "date", "day", true],
      ["in 2019", "date", "year", false],
    ]);
  });

  test("on a Sunday the weekend that is running is not the last one", () => {
    const sundayUs = Date.UTC(2023, 4, 14, 20) * 1000;
    expect(resolveTimeExpressions("last weekend", sundayUs).map(days)).toEqual(["2023-05-06..2023-05-07"]);
    expect(resolveTimeExpressions("We danced over the weekend", sundayUs).map(days)).toEqual(["2023-05-13..2023-05-14"]);
  });

  test("an interval ends with the last microsecond of its day", () => {
    const [time] = resolveTimeExpressions("today", referenceUs);
    expect(time!.interval.endUs - time!.interval.startUs).toBe(86_400_000_000 - 1);
  });

  test("any text at any time gives ordered, separate expressions with non-empty intervals", () => {
    const seed = 86_400;
    const random = seededRandom(seed);
    for (let i = 0; i < 300; i++) {
      const text = randomText(random);
      const at = Math.floor((random() * 400 - 200) * 365.25 * 86_400) * 1_000_000;
      let from = 0;
      for (const time of resolveTimeExpressions(text, at)) {
        const label = `seed ${seed}: ${JSON.stringify(text)} at ${at}: ${JSON.stringify(time)}`;
        expect(time.start, label).toBeGreaterThanOrEqual(from);
        expect(text.startsWith(time.text, time.start), label).toBe(true);
        expect(Number.isSafeInteger(time.interval.startUs) && time.interval.startUs < time.interval.endUs, label).toBe(true);
        from = time.start + time.text.length;
      }
    }
  });
});

describe("parseQueryWindow", () => {
  test.each([
    ["What did I do in March?", "2023-03-01..2023-03-31"],
    ["What happened in June?", "2022-06-01..2022-06-30"],
    ["Where was she on Friday?", "2023-05-05..2023-05-05"],
    ["What will we do on Friday?", "2023-05-12..2023-05-12"],
    ["during 2024", "2024-01-01..2024-12-31"],
    ["last week or on 5 May 2023", "2023-05-05..2023-05-05"],
    ["last month or yesterday", "2023-05-09..2023-05-09"],
    ["last month on Monday", "2023-05-08..2023-05-08"],
    ["last year or last week", "2023-05-01..2023-05-07"],
    ["a few days ago", "2023-05-05..2023-05-08"],
  ])("%j", (query, expected) => {
    expect(days(parseQueryWindow(query, referenceUs)!)).toBe(expected);
  });

  test.each(["2024", "Who lives in Rome?", "in 1850", "in 2050", "bus 1990"])("no window in %j", (query) => {
    expect(parseQueryWindow(query, referenceUs)).toBeUndefined();
  });
});
