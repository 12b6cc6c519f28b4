// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Errors of the C++ interface. A call that can fail has two forms:
//
//	session.start();		// throws perfmon::error, of which what() is a sentence
//	session.start(failed);		// noexcept: sets a std::error_code, empty on success
//
// The codes are errno values in std::generic_category(), as the C headers list them, so that
// `failed == std::errc::device_or_resource_busy` works. A program that is compiled without
// exceptions ends with the sentence, by std::abort(), where the first form would throw.
#ifndef PERFMON_ERROR_HPP
#define PERFMON_ERROR_HPP

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

#if __cplusplus < 201103L
#error "the C++ interface of perfmon needs C++11 or later"
#endif

// The library's: a value that a program must not drop.
#if __cplusplus >= 201703L
#define PERFMON_NODISCARD_ [[nodiscard]]
#else
#define PERFMON_NODISCARD_
#endif

namespace perfmon
{

// What a call throws: a code, and a sentence that says what is wrong and what helps.
class error : public std::system_error
{
      public:
	error(int code, const std::string &sentence)
	    : std::system_error(code, std::generic_category()), sentence_(sentence)
	{
	}
	const char *what() const noexcept override
	{
		return sentence_.what();
	}

      private:
	// Copying an exception must not throw: this class shares its text between copies.
	std::runtime_error sentence_;
};

// The code of a result of the C interface: of a negative errno. Others are no error.
inline std::error_code code_of(int result) noexcept
{
	return result < 0 ? std::error_code(-result, std::generic_category())
			  : std::error_code();
}

// Throws the error of a negative RESULT. Without a SENTENCE what() describes the code.
[[noreturn]] inline void fail(int result, std::string sentence)
{
	if (sentence.empty())
		sentence = code_of(result).message();
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
	throw error(-result, sentence);
#else
	std::fprintf(stderr, "perfmon: %s\n", sentence.c_str());
	std::abort();
#endif
}

} // namespace perfmon

#endif
